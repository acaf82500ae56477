/** What the failures of all vendors' APIs have in common: which pass by waiting, and how they name a time to wait. */

/** Whether a retry may succeed: a server error, a timeout, a concurrent request. */
export function isRetryableStatus(status: number): boolean {
  return status >= 500 || status === 408 || status === 409;
}

/** `1m30s`, `2 days, 3 hours`, `12.5s` in milliseconds; 0 without a time. */
export function durationOf(words: string): number {
  const parts = words.matchAll(/(\d*\.?\d+) ?(ms|milli|d|h|m|s)/gi);
  return [...parts].reduce(
    (sum, [, value, unit = '']) => sum + Number(value) * (UNIT_MS[unit.toLowerCase()] ?? 0),
    0,
  );
}

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  milli: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
