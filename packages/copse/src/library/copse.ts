/** The types of the library. */

import type { RecordedEvent } from '../board/rules/event.ts';
import type { Operations } from './operations.ts';

export interface CopseOptions {
  /** A folder of the repository. */
  readonly folder: string;
}

/** Every method fails with a `CopseError`. */
export interface Copse extends Operations {
  /** The cursor of the last event: read it before the tasks, then follow the events after it. */
  cursor(): Promise<string>;
  /** Every event after the given one, in order, and then each new one. `break`, the signal or `close` ends it. */
  events(options?: EventsOptions): AsyncGenerator<CopseEvent, void, undefined>;
  /** Ends the iterations, waits for the calls under way, and closes everything. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** An event, as `copse events --json` and the server tell it. */
export interface CopseEvent {
  /** Give it as `after` to go on behind this event. */
  readonly cursor: string;
  readonly number: number;
  /** A time, in UTC. */
  readonly at: string;
  /** `task.added`, `landing.landed`, … */
  readonly type: RecordedEvent['event']['type'];
  /** What it happened to: a task, a session, a landing. */
  readonly id: string;
  /** `person:ann`, `session:s-…`, `node:n-…`. */
  readonly by: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface EventsOptions {
  /** A cursor, or the number of an event. Without it: from the first event on. */
  readonly after?: string | number | undefined;
  /** Ends the iteration. */
  readonly signal?: AbortSignal | undefined;
  /**
   * The database server of the board was replaced and lacks these events, which you may have seen; their numbers come again.
   * Without this function, the iteration fails then.
   */
  readonly onLost?: ((lost: { readonly from: number; readonly to: number }) => void) | undefined;
}
