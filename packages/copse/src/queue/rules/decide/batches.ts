/** The batches of a queue while the decision changes them. */

import type { LandingId } from '../../../kernel/ids.ts';
import type { Policy } from '../../../kernel/policy.ts';
import type { Batch, QueuedChange, QueueState, BatchStage } from './state.ts';
import { plain } from './stack.ts';

const AGAIN = { is: 'waiting', as: 'again' } as const;
const HALF = { is: 'waiting', as: 'half' } as const;

export class Batches {
  #all: readonly Batch[];
  #next: number;
  #byLanding: ReadonlyMap<LandingId, Batch> | null = null;

  constructor({ batches, next }: Pick<QueueState, 'batches' | 'next'>) {
    this.#all = batches;
    this.#next = next;
  }

  get all(): readonly Batch[] {
    return this.#all;
  }

  get next(): number {
    return this.#next;
  }

  /** A new number for a batch, a check or a position in the train. */
  take(): number {
    this.#next += 1;
    return this.#next - 1;
  }

  with({ landing }: Pick<QueuedChange, 'landing'>): Batch | undefined {
    this.#byLanding ??= new Map(
      this.#all.flatMap((batch) => batch.changes.map((change) => [change.landing, batch] as const)),
    );
    return this.#byLanding.get(landing);
  }

  add(changes: readonly QueuedChange[]): Batch {
    const batch = this.#new(changes.map(plain), AGAIN);
    this.#set([...this.#all, batch]);
    return batch;
  }

  move(batch: Batch, stage: BatchStage, marks: Partial<Pick<Batch, 'wasRed' | 'wasSlow'>> = {}): void {
    this.#replace(batch, [{ ...batch, ...marks, stage }]);
  }

  again(batch: Batch, marks: Partial<Pick<Batch, 'wasRed' | 'wasSlow'>> = {}): void {
    this.move(batch, AGAIN, marks);
  }

  becomeGreen(batch: Batch): void {
    this.move(batch, { is: 'green', since: this.take() });
  }

  /** The others have landed. The batch's verdict holds for the rest on top of them. */
  forgetLanded(batch: Batch, rest: readonly QueuedChange[]): void {
    const current = this.#all.find(({ id }) => id === batch.id) ?? batch;
    if (rest.length > 0) this.#replace(batch, [{ ...current, changes: rest }]);
    else this.dissolve(batch);
  }

  /** The others left the queue. The batch's verdict does not hold for the rest. */
  reduce(batch: Batch, rest: readonly QueuedChange[]): void {
    if (rest.length === 0) return this.dissolve(batch);
    this.#release(batch);
    this.#replace(batch, [{ ...batch, changes: rest, stage: AGAIN }]);
  }

  /** Its changes go back to their places in the queue. */
  dissolve(batch: Batch): void {
    this.#release(batch);
    this.#replace(batch, []);
  }

  split(batch: Batch): void {
    const { changes } = batch;
    if (changes.length === 1) return this.move(batch, HALF);
    const middle = Math.ceil(changes.length / 2);
    const first = this.#new(changes.slice(0, middle), HALF);
    const stage = { is: 'waiting', as: 'second_half', of: first.id } as const;
    this.#replace(batch, [first, this.#new(changes.slice(middle), stage)]);
  }

  /** If the first half is green, the second is red. If it is red, nothing is known about the second. */
  tellSecondHalf(first: Batch, isGreen: boolean): void {
    const second = this.#secondHalf(first);
    if (second === undefined) return;
    if (isGreen) this.split(second);
    else this.dissolve(second);
  }

  /** The first half gets no verdict any more, so the second half is checked alone. */
  #release(first: Batch): void {
    const second = this.#secondHalf(first);
    if (second !== undefined) this.move(second, HALF);
  }

  #secondHalf({ id }: Batch): Batch | undefined {
    return this.#all.find(
      ({ stage }) => stage.is === 'waiting' && stage.as === 'second_half' && stage.of === id,
    );
  }

  #new(changes: readonly QueuedChange[], stage: BatchStage): Batch {
    return { id: this.take(), changes, stage, wasRed: false, wasSlow: false };
  }

  #replace(batch: Batch, by: readonly Batch[]): void {
    this.#set(this.#all.flatMap((one) => (one.id === batch.id ? by : [one])));
  }

  #set(all: readonly Batch[]): void {
    this.#all = all;
    this.#byLanding = null;
  }
}

/** How many changes a new batch has. */
export function batchSize(guilt: number, { largestBatch }: Pick<Policy['landing'], 'largestBatch'>): number {
  return Math.max(1, Math.min(largestBatch, Math.floor(0.69 / guilt)));
}
