/**
 * A world in which queues can be compared: branches with faults, checks that take time and sometimes lie. Everything is
 * drawn from a seed, so each queue meets the same branches; whether a tree is good is a fact that no queue is told.
 */

import { drawing } from '../../test/support/workspaces/workspace-chance.ts';

export interface WorldSettings {
  readonly branches: number;
  readonly slots: number;
  readonly seed: number;
  /** The check of a change alone is red. */
  readonly failing: number;
  /** It cannot be merged with some other change. */
  readonly textual: number;
  /** It is red together with some other change, and green without it. */
  readonly semantic: number;
  /** A check is red for no reason. */
  readonly flaky: number;
  readonly checkMs: number;
  /** Between arrivals; 0 when all are there from the beginning. */
  readonly arrivalMs: number;
}

export const usualWorld: Omit<WorldSettings, 'slots' | 'seed' | 'branches'> = {
  failing: 0.03,
  textual: 0.01,
  semantic: 0.005,
  flaky: 0.01,
  checkMs: 60_000,
  arrivalMs: 0,
};

export interface Outcome {
  readonly makespanMs: number;
  /** From arrival to landing. */
  readonly waitsMs: readonly number[];
  readonly landed: number;
  readonly handedBack: number;
  /** Handed back by a check although it was good with all that had landed by then. */
  readonly wronged: number;
  readonly checks: number;
  readonly redLandings: number;
}

export class World {
  readonly settings: WorldSettings;
  readonly arrivesMs: readonly number[];
  readonly #random: () => number;
  readonly #isBad: readonly boolean[];
  readonly #conflicts = new Map<number, Set<number>>();
  readonly #clashes = new Map<number, Set<number>>();
  checks = 0;

  constructor(settings: WorldSettings) {
    this.settings = settings;
    const { branches, failing, textual, semantic, arrivalMs, seed } = settings;
    const draw = drawing(seed);
    this.#random = drawing(seed + 7_919);
    this.#isBad = Array.from({ length: branches }, () => draw() < failing);
    this.arrivesMs = Array.from({ length: branches }, (_, at) => at * arrivalMs);
    for (let one = 0; one < branches; one += 1) {
      if (draw() < textual) pair(this.#conflicts, one, Math.floor(draw() * branches));
      if (draw() < semantic) pair(this.#clashes, one, Math.floor(draw() * branches));
    }
  }

  merges(below: Iterable<number>, change: number): boolean {
    const against = this.#conflicts.get(change);
    return against === undefined || !some(below, (one) => against.has(one));
  }

  isGood(changes: Iterable<number>): boolean {
    const all = new Set(changes);
    return !some(
      all,
      (one) => this.#isBad[one] === true || some(this.#clashes.get(one) ?? [], (other) => all.has(other)),
    );
  }

  /** What a check says, which may be wrong about something good. */
  check(changes: Iterable<number>): boolean {
    this.checks += 1;
    return this.#random() >= this.settings.flaky && this.isGood(changes);
  }
}

/** What happened so far, kept by every queue in the same way. */
export class Record {
  readonly #world: World;
  readonly target: number[] = [];
  readonly #waitsMs: number[] = [];
  #handedBack = 0;
  #wronged = 0;
  #redLandings = 0;
  #lastMs = 0;

  constructor(world: World) {
    this.#world = world;
  }

  land(changes: readonly number[], nowMs: number): void {
    for (const change of changes) this.#waitsMs.push(nowMs - this.#world.arrivesMs[change]!);
    this.target.push(...changes);
    if (!this.#world.isGood(this.target)) this.#redLandings += 1;
    this.#lastMs = nowMs;
  }

  handBack(change: number, because: 'conflict' | 'checks', nowMs: number): void {
    this.#handedBack += 1;
    if (because === 'checks' && this.#world.isGood([...this.target, change])) this.#wronged += 1;
    this.#lastMs = nowMs;
  }

  get isOver(): boolean {
    return this.target.length + this.#handedBack >= this.#world.settings.branches;
  }

  outcome(): Outcome {
    return {
      makespanMs: this.#lastMs,
      waitsMs: this.#waitsMs,
      landed: this.target.length,
      handedBack: this.#handedBack,
      wronged: this.#wronged,
      checks: this.#world.checks,
      redLandings: this.#redLandings,
    };
  }
}

function pair(pairs: Map<number, Set<number>>, one: number, other: number): void {
  if (one === other) return;
  pairs.set(one, (pairs.get(one) ?? new Set()).add(other));
  pairs.set(other, (pairs.get(other) ?? new Set()).add(one));
}

function some<T>(values: Iterable<T>, is: (value: T) => boolean | undefined): boolean {
  for (const value of values) if (is(value)) return true;
  return false;
}
