export interface Backoff {
  readonly firstMs: number;
  readonly mostMs: number;
}

/** How long to wait after so many failures in a row, from 1: twice as long each time, up to the most. */
export function backoffMs(failures: number, { firstMs, mostMs }: Backoff): number {
  // Zero times infinity is not a number.
  const doublings = Math.min(failures - 1, 50);
  return Math.min(mostMs, firstMs * 2 ** doublings);
}
