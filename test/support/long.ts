/**
 * How long the tests run that could go on for ever: random ones, and those that kill a process at every single step.
 * `npm test` has a short version of each, `npm run test:faults` the long one.
 */

export const isLong = process.env['COPSE_LONG'] === '1';

/** A number of times; the variable of that name counts more. */
export function often(times: {
  readonly short: number;
  readonly long: number;
  readonly variable?: string;
}): number {
  const said = times.variable === undefined ? undefined : process.env[times.variable];
  return said === undefined ? (isLong ? times.long : times.short) : Number(said);
}

/** One of seven is done by a process that is killed, in the short version one of ten; the others throw inside this one. */
export function isKilled(index: number): boolean {
  return index % often({ short: 10, long: 7, variable: 'COPSE_STRIDE' }) === 0;
}
