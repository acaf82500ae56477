/**
 * How long each thing is unchanged, as this process saw it on its monotonic clock. Time in which it could not look counts only
 * as the time between two looks: the board was away for others too, or this process was stopped.
 */

export interface LookTime {
  readonly nowMs: number;
  /** The time between two looks of a process that runs. */
  readonly longestMs: number;
}

export class Unchanged<Key> {
  readonly #seen = new Map<
    Key,
    { readonly state: string; readonly sinceMs: number; readonly atMs: number }
  >();

  /** Milliseconds since it was first seen in this state. */
  see(key: Key, state: string, { nowMs, longestMs }: LookTime): number {
    const before = this.#seen.get(key);
    const missedMs = before === undefined ? 0 : Math.max(0, nowMs - before.atMs - longestMs);
    const sinceMs = before?.state === state ? before.sinceMs + missedMs : nowMs;
    this.#seen.set(key, { state, sinceMs, atMs: nowMs });
    return nowMs - sinceMs;
  }

  forget(key: Key): void {
    this.#seen.delete(key);
  }

  forgetAllBut(keys: ReadonlySet<Key>): void {
    for (const key of this.#seen.keys()) if (!keys.has(key)) this.#seen.delete(key);
  }
}
