/**
 * The merge queue's decision: sieve and train.
 *
 * Checking one change after another is safe and slow; checking many together is fast until one of them is bad. So changes
 * are first *sieved* in batches, each checked by itself beside the others, until every batch is green or its bad change is
 * found. Green batches then form a *train*: stacked on the target in order, and the target moves to as much of the stack as
 * was checked as a whole. It never moves to anything else.
 *
 *   1. `guilt` is the share of changes that checks find guilty. It begins at 5 % and moves by 2 % with every change.
 *   2. A change that conflicts with the target is handed back at once, wherever it stands; one that is held leaves its batch.
 *   3. A free slot goes to the first of: an urgent change, alone · whether the target itself is green · a probe of the train
 *      (at most half the slots) · batches that are checked again, and halves · a new batch · second halves, for want of
 *      anything better.
 *   4. A new batch is the next 0.69 / guilt changes (at most 32) that merge together. That many are all good with one chance in
 *      two. Whoever does not fit keeps its place. A short queue is spread over the free slots.
 *   5. A batch is checked on the target. If nobody else waits and little is in flight, it is checked on top of all that is
 *      in flight, so that it can land right behind that.
 *   6. Green: it joins the end of the train. If it does not merge with those in front, it waits until they landed or left.
 *   7. Red, of several changes: the first half is checked. If that is green, the second half is to blame and is split without
 *      being checked as a whole. If it is red, the second half goes back to the queue.
 *   8. Red, of one change: it is checked once more. Red again, on something green: it is handed back with what the check said.
 *      Too slow is the same as red, but counted by itself.
 *   9. Red on top of something that did not land: nobody is to blame. It is checked again on the target.
 *  10. The train is probed as a whole, then in the middle of the largest stretch that was not probed.
 *  11. A green probe, or a stack with a tree that is known to be green: the target moves there. Longer probes go on, because
 *      the same stack on top of the new target is the same commit.
 *  12. A red probe with nothing shorter still being checked: its batches are checked again one by one on the target. Later ones
 *      stay green. If it is only one batch, that one is red (7, 8).
 *  13. Before the first change is blamed the target is checked by itself. If it is red, nobody is blamed: each change is checked
 *      alone, once, and the one that mends the target lands.
 *
 * A change is passed over when a later one is taken into a batch and it is not: because it does not fit, or, for the one that
 * waits longest, because others are more important. If that happens more often than policy allows it goes first and alone, like
 * a hotfix. While such an urgent change is under way nothing else lands, so that what it was checked on is still the target when
 * it is green. What a person lets land without checks does so at once.
 *
 * If checks cannot run, nothing is begun for a while, longer each time, and then one at a time until one can.
 *
 * The function is pure. What a merge would look like is asked through `look`; if the caller does not know yet, the answer of
 * the whole function is what to find out, and it is called again with that.
 */

import { backoffMs } from '../../../kernel/backoff.ts';
import type { CommitId } from '../../../kernel/ids.ts';
import type { Policy } from '../../../kernel/policy.ts';
import { Desk } from './desk.ts';
import type { EndedRun, QueueFacts } from './facts.ts';
import { type Start, Slots } from './slots.ts';
import { type Look, NotLookedAt, type Stack, plain } from './stack.ts';
import {
  type Audit,
  type Batch,
  type Change,
  type QueueState,
  type RedVerdict,
  isSameChange,
  runsOf,
} from './state.ts';

export { batchSize } from './batches.ts';
export type { EndedRun, Entry, QueueFacts } from './facts.ts';
export type { Purpose, Start } from './slots.ts';
export type { Look, Stack, Stacked } from './stack.ts';

export interface QueuePlan {
  readonly state: QueueState;
  readonly start: readonly Start[];
  readonly abandon: readonly number[];
  /** At most one move at a time; the next decision sees the target where it is then. */
  readonly land: (Stack & { readonly commit: CommitId; readonly isChecked: boolean }) | null;
  readonly handBack: readonly Blame[];
  /** Something waits, and neither a check nor a landing is going on or begun. */
  readonly stall: string | null;
}

export interface Blame {
  readonly change: Change;
  readonly because: 'conflict' | RedVerdict;
  /** The check that was red. */
  readonly run: number | null;
}

export type QueueDecision = { readonly needs: Stack } | { readonly needs: null; readonly plan: QueuePlan };

export function decideQueue(
  state: QueueState,
  facts: QueueFacts,
  look: Look,
  policy: Policy['landing'],
): QueueDecision {
  try {
    return { needs: null, plan: new Decision(state, new Desk(state, facts, look, policy)).plan() };
  } catch (error) {
    if (error instanceof NotLookedAt) return { needs: error.needed };
    throw error;
  }
}

/** The weight of one change in the share of guilty ones. */
const WEIGHT = 0.02;
const LEAST_GUILT = 0.001;

class Decision {
  readonly #desk: Desk;
  readonly #slots: Slots;
  readonly #before: QueueState;

  constructor(state: QueueState, desk: Desk) {
    this.#before = state;
    this.#desk = desk;
    this.#slots = new Slots(desk);
  }

  plan(): QueuePlan {
    this.#forgetLanded();
    this.#forgetGone();
    this.#hear();
    this.#loseRuns();
    const land = this.#landOrCheck();
    return {
      state: this.#desk.state(),
      start: this.#slots.started,
      abandon: this.#useless(),
      land,
      handBack: this.#blames(),
      stall: land === null ? this.#stall() : null,
    };
  }

  // What happened since the last decision.

  #forgetLanded(): void {
    const landed = new Set(this.#desk.facts.landed);
    for (const batch of this.#desk.batches.all) {
      const rest = batch.changes.filter(({ landing }) => !landed.has(landing));
      const count = batch.changes.length - rest.length;
      for (let at = 0; at < count; at += 1) this.#learn(0);
      if (count > 0) this.#desk.batches.forgetLanded(batch, rest);
    }
  }

  /** Cancelled, held, in conflict, or its branch moved. */
  #forgetGone(): void {
    for (const batch of this.#desk.batches.all) {
      const rest = batch.changes.filter((change) => {
        const entry = this.#desk.entries.get(change.landing);
        return entry !== undefined && isSameChange(entry, change) && this.#desk.mayLand(entry);
      });
      if (rest.length < batch.changes.length) this.#desk.batches.reduce(batch, rest);
      else if (this.#desk.facts.everyCommitGreen && rest.length > 1) this.#desk.batches.dissolve(batch);
    }
  }

  #hear(): void {
    for (const run of this.#desk.facts.ended) {
      if (run.verdict === 'infrastructure') this.#haveTrouble(run.reason);
      else this.#desk.trouble = null;
      const batch = this.#desk.batches.all.find(
        ({ stage }) => stage.is === 'checking' && stage.run === run.run,
      );
      if (batch !== undefined) this.#hearBatch(batch, run);
      this.#hearProbe(run);
      if (this.#desk.audit?.run === run.run && this.#desk.audit.verdict === 'checking')
        this.#hearAudit(this.#desk.audit, run);
    }
  }

  /** Checks that were begun before it was known count as one trouble. */
  #haveTrouble(reason: string): void {
    const { now } = this.#desk.facts;
    const known = this.#desk.trouble;
    if (known !== null && now < known.until) {
      this.#desk.trouble = { ...known, reason };
      return;
    }
    const times = (known?.times ?? 0) + 1;
    const { troubleFirstMs, troubleMostMs } = this.#desk.policy;
    const until = now + backoffMs(times, { firstMs: troubleFirstMs, mostMs: troubleMostMs });
    this.#desk.trouble = { reason, times, until };
  }

  #hearBatch(batch: Batch, { run, verdict, isOntoLanded }: EndedRun): void {
    if (batch.stage.is !== 'checking') return;
    const { of, onto } = batch.stage;
    const isGreen = verdict === 'green';
    if (isGreen) this.#desk.batches.becomeGreen(batch);
    else if (verdict === 'infrastructure' || !isOntoLanded) return this.#desk.batches.again(batch);
    else this.#desk.batches.move(batch, { is: 'accused', run, verdict, onto });
    if (of === null) this.#desk.batches.tellSecondHalf(batch, isGreen);
  }

  /** A green one is seen by its tree, as any other green tree is. */
  #hearProbe({ run, verdict }: EndedRun): void {
    this.#desk.probes = this.#desk.probes.flatMap((probe) => {
      if (probe.run !== run) return [probe];
      return verdict === 'red' || verdict === 'timeout' ? [{ ...probe, red: verdict }] : [];
    });
  }

  #hearAudit(audit: Audit, { verdict }: EndedRun): void {
    if (verdict === 'infrastructure') this.#desk.audit = null;
    else this.#desk.audit = { ...audit, verdict: verdict === 'green' ? 'green' : 'red' };
  }

  #loseRuns(): void {
    const alive = new Set(this.#desk.facts.running);
    for (const batch of this.#desk.batches.all)
      if (batch.stage.is === 'checking' && !alive.has(batch.stage.run)) this.#desk.batches.again(batch);
    this.#desk.probes = this.#desk.probes.filter(({ run, red }) => red !== null || alive.has(run));
    const audit = this.#desk.audit;
    const isLost = audit?.verdict === 'checking' && !alive.has(audit.run);
    if (audit?.tip !== this.#desk.facts.tip || isLost) this.#desk.audit = null;
  }

  // What follows from it.

  /** Until something lands, or nothing more follows. */
  #landOrCheck(): QueuePlan['land'] {
    for (;;) {
      this.#judge();
      const land = this.#land();
      if (land === null && this.#returnRedProbe()) continue;
      this.#dropProbes();
      if (land !== null) return land;
      if (this.#desk.facts.isPaused || this.#slots.fill() !== 'green') return null;
    }
  }

  /** Red batches are split or handed back once it is known that the target is not to blame. */
  #judge(): void {
    for (const batch of this.#desk.batches.all) {
      const target = batch.stage.is === 'accused' ? this.#desk.targetVerdict() : 'unknown';
      if (target === 'green') this.#convict(batch);
      if (target === 'red') this.#acquit(batch);
    }
  }

  #convict(batch: Batch): void {
    if (batch.stage.is !== 'accused') return;
    const { run, verdict, onto } = batch.stage;
    if (batch.changes.length > 1) return this.#desk.batches.split(batch);
    const was = verdict === 'timeout' ? 'wasSlow' : 'wasRed';
    if (!batch[was] || !this.#isPartOfTargetAndGreen(onto, run))
      return this.#desk.batches.again(batch, { [was]: true });
    this.#desk.batches.move(batch, { is: 'guilty', run, verdict });
    this.#learn(1);
  }

  /** Whether something else than the tip is part of the target is known of checks that just ended. */
  #isPartOfTargetAndGreen(onto: CommitId, run: number): boolean {
    const { tip, ended } = this.#desk.facts;
    if (onto === tip) return true;
    return ended.some((one) => one.run === run) && this.#desk.stacks.isCommitGreen(onto);
  }

  #acquit(batch: Batch): void {
    const [only, ...others] = batch.changes;
    const isTried = batch.stage.is === 'accused' && batch.stage.onto === this.#desk.facts.tip;
    if (isTried && only !== undefined && others.length === 0 && this.#desk.audit !== null)
      this.#desk.audit = { ...this.#desk.audit, tried: [...this.#desk.audit.tried, plain(only)] };
    this.#desk.batches.dissolve(batch);
  }

  #learn(isGuilty: 0 | 1): void {
    this.#desk.guilt = Math.max(LEAST_GUILT, this.#desk.guilt * (1 - WEIGHT) + isGuilty * WEIGHT);
  }

  // Landing.

  #land(): QueuePlan['land'] {
    const { tip: onto, hasChecks, blocked } = this.#desk.facts;
    if (blocked !== null) return null;
    const unchecked = this.#desk.facts.entries.find(
      (entry) => entry.isUnchecked && this.#desk.mayLand(entry) && this.#desk.stacks.fit([entry]),
    );
    if (unchecked !== undefined) {
      const { commit, isGreen } = this.#desk.stacks.mustFit([unchecked]);
      return { onto, changes: [plain(unchecked)], commit, isChecked: isGreen };
    }
    if (!hasChecks) return this.#landAll();
    const train = this.#desk.train();
    const changes = train.batches.slice(0, train.greenLength).flatMap((batch) => batch.changes);
    if (changes.length === 0) return null;
    return { onto, changes, commit: this.#desk.stacks.mustFit(changes).commit, isChecked: true };
  }

  /** Without checks: everything that merges, in order. */
  #landAll(): QueuePlan['land'] {
    const { tip: onto, entries } = this.#desk.facts;
    const free = entries.filter((entry) => this.#desk.mayLand(entry));
    const changes = this.#desk.stacks.fitting(free, this.#desk.policy.landedAtOnce).map(plain);
    if (changes.length === 0) return null;
    return { onto, changes, commit: this.#desk.stacks.mustFit(changes).commit, isChecked: false };
  }

  /** Nothing shorter is being checked, and nothing shorter is green. */
  #returnRedProbe(): boolean {
    if (this.#desk.probes.every(({ red }) => red === null)) return false;
    const train = this.#desk.train();
    const shortest = train.shortestOf(this.#desk.probes);
    if (!shortest?.probe.red || train.greenLength > 0) return false;
    const { probe, length } = shortest;
    this.#desk.probes = this.#desk.probes.filter((one) => one !== probe);
    const [only, ...others] = train.batches.slice(0, length);
    const { tip: onto } = this.#desk.facts;
    if (only !== undefined && others.length === 0)
      this.#desk.batches.move(only, { is: 'accused', run: probe.run, verdict: shortest.probe.red, onto });
    else for (const batch of train.batches.slice(0, length)) this.#desk.batches.again(batch);
    return true;
  }

  /** Probes of what is no longer the train. */
  #dropProbes(): void {
    if (this.#desk.probes.length === 0) return;
    const train = this.#desk.wholeTrain();
    this.#desk.probes = this.#desk.probes.filter((probe) => train.lengthOf(probe) !== undefined);
  }

  /** Checks that no batch, probe or question waits for any more. */
  #useless(): readonly number[] {
    const wanted = new Set(runsOf(this.#desk.state()));
    const running = new Set(this.#desk.facts.running);
    for (const { run } of this.#desk.facts.ended) running.delete(run);
    return runsOf(this.#before).filter((run) => running.has(run) && !wanted.has(run));
  }

  #blames(): readonly Blame[] {
    const conflicting = this.#desk.facts.entries
      .filter(({ landing, conflict }) => conflict !== null || this.#desk.stacks.misfits.has(landing))
      .map((entry): Blame => ({ change: plain(entry), because: 'conflict', run: null }));
    const guilty = this.#desk.batches.all.flatMap(({ stage, changes: [change] }): readonly Blame[] =>
      stage.is === 'guilty' && change !== undefined && !this.#desk.entries.get(change.landing)?.isUnchecked
        ? [{ change, because: stage.verdict, run: stage.run }]
        : [],
    );
    return [...conflicting, ...guilty];
  }

  #stall(): string | null {
    const { blocked, entries, isPaused, slots } = this.#desk.facts;
    const blamed = new Set(this.#blames().map(({ change }) => change.landing));
    const waiting = entries.filter(({ landing }) => !blamed.has(landing));
    if (waiting.length === 0 || this.#desk.runs > 0) return null;
    if (blocked !== null) return blocked;
    if (isPaused) return 'the queue is paused';
    if (this.#desk.trouble !== null) return `its checks cannot run: ${this.#desk.trouble.reason}`;
    if (this.#desk.isTargetRed) return 'the target itself fails its checks';
    const held = waiting.find((entry) => entry.held !== null);
    if (held !== undefined) return held.held;
    return slots === 0 ? 'no slot is free for its checks' : 'nothing more can be begun';
  }
}
