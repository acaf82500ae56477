/** What becomes of a target when changes are merged into it, as far as somebody looked. */

import type { CommitId, LandingId } from '../../../kernel/ids.ts';
import type { Batch, Change } from './state.ts';

/** Changes that are merged onto a commit one after another. */
export interface Stack {
  readonly onto: CommitId;
  readonly changes: readonly Change[];
}

export type Stacked =
  | { readonly fits: true; readonly commit: CommitId; readonly isGreen: boolean }
  /** The change at this place conflicts with what is below it. */
  | { readonly fits: false; readonly at: number };

/** Undefined when nobody looked yet. */
export type Look = (stack: Stack) => Stacked | undefined;

export class NotLookedAt extends Error {
  readonly needed: Stack;

  constructor(needed: Stack) {
    super('a merge has to be looked at first');
    this.needed = needed;
  }
}

/** What was found out about the first batches of a train, and what comes behind them: it is asked about again and again. */
interface Known {
  stacked: Stacked | null;
  readonly next: Map<readonly Change[], Known>;
}

/** Stacks on the target as it is now. */
export class Stacks {
  readonly #tip: CommitId;
  readonly #look: Look;
  readonly #known: Known = { stacked: null, next: new Map() };
  /** Found out by looking: they do not even merge with the target alone. */
  readonly misfits = new Set<LandingId>();

  constructor(tip: CommitId, look: Look) {
    this.#tip = tip;
    this.#look = look;
  }

  of(changes: readonly Change[]): Stacked {
    const stacked = this.#ask({ onto: this.#tip, changes: changes.map(plain) });
    const [first] = changes;
    if (!stacked.fits && stacked.at === 0 && first !== undefined) this.misfits.add(first.landing);
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

  /** The first so many that merge with each other, in order. */
  fitting<T extends Change>(candidates: readonly T[], most: number): readonly T[] {
    const chosen = candidates.slice(0, most);
    for (let next = most; ; next += 1) {
      const stacked = this.of(chosen);
      if (stacked.fits) return chosen;
      chosen.splice(stacked.at, 1);
      chosen.push(...candidates.slice(next, next + 1));
    }
  }

  fit(changes: readonly Change[]): boolean {
    return this.of(changes).fits;
  }

  mustFit(changes: readonly Change[]): Extract<Stacked, { fits: true }> {
    const stacked = this.of(changes);
    if (!stacked.fits) throw new Error(`${changes[stacked.at]?.task} fitted a moment ago`);
    return stacked;
  }

  areGreen(batches: readonly Batch[]): boolean {
    const stacked = this.ofBatches(batches);
    return stacked.fits && stacked.isGreen;
  }

  isCommitGreen(onto: CommitId): boolean {
    const stacked = this.#ask({ onto, changes: [] });
    return stacked.fits && stacked.isGreen;
  }

  #ask(stack: Stack): Stacked {
    const stacked = this.#look(stack);
    if (stacked === undefined) throw new NotLookedAt(stack);
    return stacked;
  }
}

/** Only what makes it this change. */
export function plain({ landing, task, head }: Change): Change {
  return { landing, task, head };
}
