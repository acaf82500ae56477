/** Where time and randomness come from. Rules get them as arguments; only acts read them. */

import type { Timestamp } from './ids.ts';

export interface Clock {
  now(): Timestamp;
}

/** A number from 0 up to, but not including, 1. */
export type Random = () => number;

/** A clock one can wait on. */
export interface Timer extends Clock {
  /** Milliseconds on a monotonic clock. */
  elapsedMs(): number;
  /** Returns early, without an error, when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
