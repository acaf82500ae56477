/** Where time and chance come from. Decisions get them as arguments; only `app` asks for them. */

import type { Timestamp } from './ids.ts';

export interface Clock {
  now(): Timestamp;
}

/** A number from 0 up to, but not including, 1. */
export type Random = () => number;

/** A clock one can wait on. */
export interface Timer extends Clock {
  /** Milliseconds on a clock that nobody sets. */
  elapsedMs(): number;
  /** Returns early, without an error, when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
