/**
 * Stacks of changes merged onto the target. The decision asks about them through `lookup`. The first stack that is not
 * known yet is noted in `unknown`; from then on the answer is "merges, not green", and the caller discards the decision,
 * finds that stack out and decides again.
 */

import { type CommitId, type LandingId, brand } from '../../../kernel/ids.ts';
import type { Batch, QueuedChange } from './state.ts';

/** Changes that are merged onto a commit one after another. */
export interface Stack {
  readonly onto: CommitId;
  readonly changes: readonly QueuedChange[];
}

export type Stacked =
  | { readonly kind: 'merged'; readonly commit: CommitId; readonly isGreen: boolean }
  /** The change at this index conflicts with the changes below it. */
  | { readonly kind: 'conflict'; readonly at: number };

/** Undefined when the stack is not known yet. */
export type StackLookup = (stack: Stack) => Stacked | undefined;

/** A trie of batches: the decision asks about the same beginnings of a train again and again. */
interface Known {
  stacked: Stacked | null;
  readonly next: Map<readonly QueuedChange[], Known>;
}

export class Stacks {
  readonly #tip: CommitId;
  readonly #lookup: StackLookup;
  readonly #known: Known = { stacked: null, next: new Map() };
  /** They do not even merge with the target alone. */
  readonly misfits = new Set<LandingId>();

  /** The first stack that the lookup did not know. */
  unknown: Stack | null = null;

  constructor(tip: CommitId, lookup: StackLookup) {
    this.#tip = tip;
    this.#lookup = lookup;
  }

  of(changes: readonly QueuedChange[]): Stacked {
    const stacked = this.#ask({ onto: this.#tip, changes: changes.map(plain) });
    const [first] = changes;
    if (stacked.kind === 'conflict' && stacked.at === 0 && first !== undefined)
      this.misfits.add(first.landing);
    return stacked;
  }

  ofBatches(batches: readonly Batch[]): Stacked {
    let known = this.#known;
    for (const { changes } of batches) {
      const next: Known = known.next.get(changes) ?? { stacked: null, next: new Map() };
      known.next.set(changes, next);
      known = next;
    }
    known.stacked ??= this.of(batches.flatMap(({ changes }) => changes));
    return known.stacked;
  }

  /** The first `most` that merge with each other, in order. */
  fitting<T extends QueuedChange>(candidates: readonly T[], most: number): readonly T[] {
    const chosen = candidates.slice(0, most);
    for (let next = most; ; next += 1) {
      const stacked = this.of(chosen);
      if (stacked.kind === 'merged') return chosen;
      chosen.splice(stacked.at, 1);
      chosen.push(...candidates.slice(next, next + 1));
    }
  }

  fit(changes: readonly QueuedChange[]): boolean {
    return this.of(changes).kind === 'merged';
  }

  mustFit(changes: readonly QueuedChange[]): Extract<Stacked, { kind: 'merged' }> {
    const stacked = this.of(changes);
    if (stacked.kind === 'conflict') throw new Error(`${changes[stacked.at]?.task} merged a moment ago`);
    return stacked;
  }

  areGreen(batches: readonly Batch[]): boolean {
    const stacked = this.ofBatches(batches);
    return stacked.kind === 'merged' && stacked.isGreen;
  }

  isCommitGreen(onto: CommitId): boolean {
    const stacked = this.#ask({ onto, changes: [] });
    return stacked.kind === 'merged' && stacked.isGreen;
  }

  #ask(stack: Stack): Stacked {
    const stacked = this.unknown === null ? this.#lookup(stack) : DISCARDED;
    if (stacked === undefined) this.unknown = stack;
    return stacked ?? DISCARDED;
  }
}

/** The answer to every question of a decision that is discarded: with it, the decision comes to an end. */
const DISCARDED: Stacked = { kind: 'merged', commit: brand<CommitId>('unknown'), isGreen: false };

/** Without the fields of an entry. */
export function plain({ landing, task, head }: QueuedChange): QueuedChange {
  return { landing, task, head };
}
