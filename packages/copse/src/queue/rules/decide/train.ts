/** The train: green batches in the order of landing, and probes: checks of its first batches. */

import type { Batches } from './batches.ts';
import type { Stacks } from './stack.ts';
import type { Batch, Probe } from './state.ts';

export class Train {
  readonly batches: readonly Batch[];
  readonly #stacks: Stacks;
  readonly #everyCommitGreen: boolean;

  constructor(
    batches: readonly Batch[],
    stacks: Stacks,
    { everyCommitGreen }: { readonly everyCommitGreen: boolean },
  ) {
    this.batches = batches;
    this.#stacks = stacks;
    this.#everyCommitGreen = everyCommitGreen;
  }

  /** How many of its batches may land now. */
  get greenLength(): number {
    if (!this.#everyCommitGreen) return this.#lengths.findLast((length) => this.#isGreen(length)) ?? 0;
    const first = this.#lengths.find((length) => !this.#isGreen(length));
    return first === undefined ? this.batches.length : first - 1;
  }

  get #lengths(): readonly number[] {
    return this.batches.map((_, at) => at + 1);
  }

  #isGreen(length: number): boolean {
    return this.#stacks.areGreen(this.batches.slice(0, length));
  }

  /** How many of its batches a probe checks; undefined when the probe is outdated. */
  lengthOf(probe: Probe): number | undefined {
    const at = this.batches.findIndex(({ id }) => id === probe.batches.at(-1));
    if (at === -1) return undefined;
    const stacked = this.#stacks.ofBatches(this.batches.slice(0, at + 1));
    return stacked.kind === 'merged' && stacked.commit === probe.commit ? at + 1 : undefined;
  }

  shortestOf(probes: readonly Probe[]): { readonly probe: Probe; readonly length: number } | undefined {
    return probes
      .flatMap((probe) => {
        const length = this.lengthOf(probe);
        return length === undefined ? [] : [{ probe, length }];
      })
      .toSorted((a, b) => a.length - b.length)[0];
  }

  /** How many batches to probe next: all, then the middle of the largest stretch that was not probed. */
  nextProbe(probes: readonly Probe[]): number | undefined {
    const { length } = this.batches;
    const from = this.greenLength;
    if (from === length) return undefined;
    const probed = probes.flatMap((probe) => this.lengthOf(probe) ?? []);
    if (this.#everyCommitGreen)
      return this.#lengths.find((one) => !probed.includes(one) && !this.#isGreen(one));
    return probed.includes(length) ? middleOfLargestGap([from, ...probed]) : length;
  }
}

/**
 * Green batches in order. A batch that conflicts with batches before it waits until they landed or left; one that
 * conflicts with the target itself is dissolved.
 */
export function fittingTrain(ordered: readonly Batch[], stacks: Stacks, batches: Batches): readonly Batch[] {
  let train = ordered;
  for (;;) {
    const stacked = stacks.ofBatches(train);
    if (stacked.kind === 'merged') return train;
    const misfit = batchAt(train, stacked.at);
    if (!stacks.fit(misfit.changes)) batches.dissolve(misfit);
    train = train.filter((batch) => batch !== misfit);
  }
}

function batchAt(train: readonly Batch[], at: number): Batch {
  let below = 0;
  for (const batch of train) {
    below += batch.changes.length;
    if (at < below) return batch;
  }
  throw new Error(`There is no change ${at} in a train of ${below}`);
}

function middleOfLargestGap(places: readonly number[]): number | undefined {
  const sorted = places.toSorted((a, b) => a - b);
  let [from, widest] = [0, 1];
  for (const [at, place] of sorted.entries()) {
    const gap = (sorted[at + 1] ?? place) - place;
    if (gap > widest) [from, widest] = [place, gap];
  }
  return widest < 2 ? undefined : from + Math.floor(widest / 2);
}
