/**
 * How long a node has been draining, on the monotonic clock of its orchestrator. The times of the board come from other
 * clocks: with them, a clock an hour off would stop all agents at once. An orchestrator that starts again measures again.
 */

import type { Drain } from '../machines/rules/node.ts';

export type Draining =
  | { readonly kind: 'no' }
  /** `leftMs`: until running work is handed over. */
  | { readonly kind: 'waiting'; readonly leftMs: number }
  | { readonly kind: 'over' };

export class DrainClock {
  #since: { readonly drain: Drain['since']; readonly elapsedMs: number } | undefined;
  #asked: { readonly withinMs: number; readonly elapsedMs: number } | undefined;

  /** A signal asked this orchestrator; it counts even while the board cannot be reached. */
  ask(withinMs: number, elapsedMs: number): void {
    this.#asked = { withinMs, elapsedMs };
  }

  look(drain: Drain | null, elapsedMs: number): Draining {
    if (drain === null) this.#since = undefined;
    else if (this.#since?.drain !== drain.since) this.#since = { drain: drain.since, elapsedMs };
    const left = [
      ...(this.#asked === undefined ? [] : [this.#asked.elapsedMs + this.#asked.withinMs - elapsedMs]),
      ...(drain === null || this.#since === undefined
        ? []
        : [this.#since.elapsedMs + drain.withinMs - elapsedMs]),
    ];
    if (left.length === 0) return { kind: 'no' };
    const leftMs = Math.min(...left);
    return leftMs <= 0 ? { kind: 'over' } : { kind: 'waiting', leftMs };
  }
}
