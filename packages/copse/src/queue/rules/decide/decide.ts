/**
 * The merge queue's decision: sieve and train.
 *
 * Checking one change after another is safe and slow; checking many together is fast until one of them is bad. So changes
 * are first *sieved* in batches, checked beside each other, until every batch is green or its bad change is found. Green
 * batches form a *train*: stacked on the target in order. The target moves to as much of the stack as was checked as a
 * whole, and never to anything else.
 *
 *   1. `guilt` is the moving share of changes that checks find guilty. It starts at 5 %; each change weighs 2 %.
 *   2. A change that conflicts with the target is handed back at once, wherever it stands. A held change leaves its batch.
 *   3. A free slot goes to the first of: an urgent change, alone · a check of the target itself · a probe of the train (at
 *      most half the slots) · retries and halves · a new batch · second halves.
 *   4. A new batch is the next 0.69 / guilt changes (at most 32) that merge together: so many are all good with a chance of
 *      one half. Skipped changes keep their place. A short queue is spread over the free slots.
 *   5. A batch is checked on the target. If no other change waits and little is in flight, it is checked on top of
 *      everything in flight, so that it can land right behind it.
 *   6. Green: it joins the end of the train. If it conflicts with batches before it, it waits until they landed or left.
 *   7. Red, of several changes: the first half is checked. If that is green, the second half is red, and it is split without
 *      a check of the whole half. If it is red, the second half goes back to the queue.
 *   8. Red, of one change: it is checked once more. Red again, on something green: it is handed back with the output.
 *      A timeout is treated like red, but counted separately.
 *   9. Red on top of something that did not land: no change is to blame. It is checked again on the target.
 *  10. The train is probed as a whole, then in the middle of the largest stretch that was not probed.
 *  11. A green probe, or a stack whose tree is known to be green: the target moves there. Longer probes go on, because the
 *      same stack on the new target is the same commit.
 *  12. A red probe, once no shorter one is running: its batches are checked again one by one on the target. Later batches
 *      stay green. If it is a single batch, that batch is red (7, 8).
 *  13. Before the first change is blamed, the target itself is checked. If it is red, no change is blamed: each is checked
 *      alone, once, and one that mends the target lands.
 *
 * A change is passed over when a later one gets into a batch and it does not: because it does not merge, or, for the one
 * that waits longest, because others have a higher priority. Past the limit of the policy it goes first and alone, like a
 * hotfix. While such an urgent change is under way nothing else lands, so that the target it was checked on is still the
 * target when it is green. A change that a person lets land without checks lands at once.
 *
 * If checks cannot run, none starts for a while, longer each time; then one at a time until one can run.
 *
 * The function is pure. It asks about merges through `lookup`; if an answer is missing, the result is the stack to find
 * out, and the caller decides again.
 */

import { backoffMs } from '../../../kernel/backoff.ts';
import type { CommitId } from '../../../kernel/ids.ts';
import type { Policy } from '../../../kernel/policy.ts';
import type { WaitReason } from '../wait-reason.ts';
import { QueueDraft } from './draft.ts';
import type { EndedRun, QueueFacts } from './facts.ts';
import { type Start, Slots } from './slots.ts';
import { type Stack, type StackLookup, plain } from './stack.ts';
import {
  type TargetCheck,
  type Batch,
  type QueuedChange,
  type QueueState,
  type RedVerdict,
  isSameChange,
  runsOf,
} from './state.ts';

export { batchSize } from './batches.ts';
export type { EndedRun, QueueEntry, QueueFacts } from './facts.ts';
export type { Purpose, Start } from './slots.ts';
export type { Stack, StackLookup, Stacked } from './stack.ts';

export interface QueuePlan {
  readonly state: QueueState;
  readonly start: readonly Start[];
  readonly abandon: readonly number[];
  /** One move at a time: the next decision starts from the new tip. */
  readonly land: (Stack & { readonly commit: CommitId; readonly isChecked: boolean }) | null;
  readonly handBack: readonly Rejection[];
  /** Why entries wait while no check and no landing is running or starting. */
  readonly stall: WaitReason | null;
}

/** A change that cannot land. */
export interface Rejection {
  readonly change: QueuedChange;
  readonly because: 'conflict' | RedVerdict;
  /** The check that failed. */
  readonly run: number | null;
}

/** `undecided`: the caller finds out what happens to `stack` and decides again. */
export type QueueDecision =
  | { readonly kind: 'decided'; readonly plan: QueuePlan }
  | { readonly kind: 'undecided'; readonly stack: Stack };

export function decideQueue(
  state: QueueState,
  facts: QueueFacts,
  lookup: StackLookup,
  policy: Policy['landing'],
): QueueDecision {
  const draft = new QueueDraft(state, facts, lookup, policy);
  const plan = new Deciding(state, draft).plan();
  const { unknown: stack } = draft.stacks;
  return stack === null ? { kind: 'decided', plan } : { kind: 'undecided', stack };
}

/** The weight of one change in `guilt`. */
const WEIGHT = 0.02;
const LEAST_GUILT = 0.001;

class Deciding {
  readonly #draft: QueueDraft;
  readonly #slots: Slots;
  readonly #before: QueueState;

  constructor(state: QueueState, draft: QueueDraft) {
    this.#before = state;
    this.#draft = draft;
    this.#slots = new Slots(draft);
  }

  plan(): QueuePlan {
    this.#forgetLanded();
    this.#forgetGone();
    this.#takeEndedRuns();
    this.#dropLostRuns();
    const land = this.#landOrCheck();
    return {
      state: this.#draft.state(),
      start: this.#slots.started,
      abandon: this.#uselessRuns(),
      land,
      handBack: this.#rejections(),
      stall: land === null ? this.#stall() : null,
    };
  }

  // Since the last decision.

  #forgetLanded(): void {
    const landed = new Set(this.#draft.facts.landed);
    for (const batch of this.#draft.batches.all) {
      const rest = batch.changes.filter(({ landing }) => !landed.has(landing));
      const count = batch.changes.length - rest.length;
      for (let at = 0; at < count; at += 1) this.#learn(0);
      if (count > 0) this.#draft.batches.forgetLanded(batch, rest);
    }
  }

  /** Changes that were cancelled, are held or in conflict, or whose branch moved. */
  #forgetGone(): void {
    for (const batch of this.#draft.batches.all) {
      const rest = batch.changes.filter((change) => {
        const entry = this.#draft.entries.get(change.landing);
        return entry !== undefined && isSameChange(entry, change) && this.#draft.mayLand(entry);
      });
      if (rest.length < batch.changes.length) this.#draft.batches.reduce(batch, rest);
      else if (this.#draft.facts.everyCommitGreen && rest.length > 1) this.#draft.batches.dissolve(batch);
    }
  }

  #takeEndedRuns(): void {
    for (const run of this.#draft.facts.ended) {
      if (run.verdict === 'infrastructure') this.#noteTrouble(run.reason);
      else this.#draft.trouble = null;
      const batch = this.#draft.batches.all.find(
        ({ stage }) => stage.is === 'checking' && stage.run === run.run,
      );
      if (batch !== undefined) this.#endBatchRun(batch, run);
      this.#endProbe(run);
      if (this.#draft.audit?.run === run.run && this.#draft.audit.verdict === 'checking')
        this.#endTargetCheck(this.#draft.audit, run);
    }
  }

  /** Several checks that started before the trouble was known count once. */
  #noteTrouble(reason: string): void {
    const { now } = this.#draft.facts;
    const known = this.#draft.trouble;
    if (known !== null && now < known.until) {
      this.#draft.trouble = { ...known, reason };
      return;
    }
    const times = (known?.times ?? 0) + 1;
    const { troubleFirstMs, troubleMostMs } = this.#draft.policy;
    const until = now + backoffMs(times, { firstMs: troubleFirstMs, mostMs: troubleMostMs });
    this.#draft.trouble = { reason, times, until };
  }

  #endBatchRun(batch: Batch, { run, verdict, isOntoLanded }: EndedRun): void {
    if (batch.stage.is !== 'checking') return;
    const { of, onto } = batch.stage;
    const isGreen = verdict === 'green';
    if (isGreen) this.#draft.batches.becomeGreen(batch);
    else if (verdict === 'infrastructure' || !isOntoLanded) return this.#draft.batches.again(batch);
    else this.#draft.batches.move(batch, { is: 'accused', run, verdict, onto });
    if (of === null) this.#draft.batches.tellSecondHalf(batch, isGreen);
  }

  /** A green probe is dropped: its tree is known to be green. */
  #endProbe({ run, verdict }: EndedRun): void {
    this.#draft.probes = this.#draft.probes.flatMap((probe) => {
      if (probe.run !== run) return [probe];
      return verdict === 'red' || verdict === 'timeout' ? [{ ...probe, red: verdict }] : [];
    });
  }

  #endTargetCheck(audit: TargetCheck, { verdict, failed }: EndedRun): void {
    if (verdict === 'infrastructure') this.#draft.audit = null;
    else if (verdict === 'green') this.#draft.audit = { ...audit, verdict };
    else this.#draft.audit = { ...audit, verdict: 'red', ...(failed && { failed }) };
  }

  #dropLostRuns(): void {
    const alive = new Set(this.#draft.facts.running);
    for (const batch of this.#draft.batches.all)
      if (batch.stage.is === 'checking' && !alive.has(batch.stage.run)) this.#draft.batches.again(batch);
    this.#draft.probes = this.#draft.probes.filter(({ run, red }) => red !== null || alive.has(run));
    const audit = this.#draft.audit;
    const isLost = audit?.verdict === 'checking' && !alive.has(audit.run);
    const { tip, checks } = this.#draft.facts;
    const isOfOthers = audit?.checks !== undefined && audit.checks !== checks;
    if (audit?.tip !== tip || isLost || isOfOthers) this.#draft.audit = null;
  }

  // Consequences.

  /** Until something can land, or no check can start. */
  #landOrCheck(): QueuePlan['land'] {
    for (;;) {
      this.#settleRed();
      const land = this.#land();
      if (land === null && this.#returnRedProbe()) continue;
      this.#dropProbes();
      if (land !== null) return land;
      if (this.#draft.facts.isPaused || this.#slots.fill() !== 'green') return null;
    }
  }

  /** Red batches are split or rejected once the target itself is known to be green. */
  #settleRed(): void {
    for (const batch of this.#draft.batches.all) {
      const target = batch.stage.is === 'accused' ? this.#draft.targetVerdict() : 'unknown';
      if (target === 'green') this.#splitOrReject(batch);
      if (target === 'red') this.#returnToQueue(batch);
    }
  }

  #splitOrReject(batch: Batch): void {
    if (batch.stage.is !== 'accused') return;
    const { run, verdict, onto } = batch.stage;
    if (batch.changes.length > 1) return this.#draft.batches.split(batch);
    const was = verdict === 'timeout' ? 'wasSlow' : 'wasRed';
    if (!batch[was] || !this.#isPartOfTargetAndGreen(onto, run))
      return this.#draft.batches.again(batch, { [was]: true });
    this.#draft.batches.move(batch, { is: 'guilty', run, verdict });
    this.#learn(1);
  }

  /** Of a commit other than the tip this is known only for checks that just ended. */
  #isPartOfTargetAndGreen(onto: CommitId, run: number): boolean {
    const { tip, ended } = this.#draft.facts;
    if (onto === tip) return true;
    return ended.some((one) => one.run === run) && this.#draft.stacks.isCommitGreen(onto);
  }

  #returnToQueue(batch: Batch): void {
    const [only, ...others] = batch.changes;
    const wasTried = batch.stage.is === 'accused' && batch.stage.onto === this.#draft.facts.tip;
    if (wasTried && only !== undefined && others.length === 0 && this.#draft.audit !== null)
      this.#draft.audit = { ...this.#draft.audit, tried: [...this.#draft.audit.tried, plain(only)] };
    this.#draft.batches.dissolve(batch);
  }

  #learn(isGuilty: 0 | 1): void {
    this.#draft.guilt = Math.max(LEAST_GUILT, this.#draft.guilt * (1 - WEIGHT) + isGuilty * WEIGHT);
  }

  // Landing.

  #land(): QueuePlan['land'] {
    const { tip: onto, hasChecks, blocked } = this.#draft.facts;
    if (blocked !== null) return null;
    const unchecked = this.#draft.facts.entries.find(
      (entry) => entry.isUnchecked && this.#draft.mayLand(entry) && this.#draft.stacks.fit([entry]),
    );
    if (unchecked !== undefined) {
      const { commit, isGreen } = this.#draft.stacks.mustFit([unchecked]);
      return { onto, changes: [plain(unchecked)], commit, isChecked: isGreen };
    }
    if (!hasChecks) return this.#landAll();
    const train = this.#draft.train();
    const changes = train.batches.slice(0, train.greenLength).flatMap((batch) => batch.changes);
    if (changes.length === 0) return null;
    return { onto, changes, commit: this.#draft.stacks.mustFit(changes).commit, isChecked: true };
  }

  /** Without checks everything that merges lands, in order. */
  #landAll(): QueuePlan['land'] {
    const { tip: onto, entries } = this.#draft.facts;
    const free = entries.filter((entry) => this.#draft.mayLand(entry));
    const changes = this.#draft.stacks.fitting(free, this.#draft.policy.landedAtOnce).map(plain);
    if (changes.length === 0) return null;
    return { onto, changes, commit: this.#draft.stacks.mustFit(changes).commit, isChecked: false };
  }

  /** The shortest probe is red, and no shorter part of the train is green. */
  #returnRedProbe(): boolean {
    if (this.#draft.probes.every(({ red }) => red === null)) return false;
    const train = this.#draft.train();
    const shortest = train.shortestOf(this.#draft.probes);
    if (!shortest?.probe.red || train.greenLength > 0) return false;
    const { probe, length } = shortest;
    this.#draft.probes = this.#draft.probes.filter((one) => one !== probe);
    const [only, ...others] = train.batches.slice(0, length);
    const { tip: onto } = this.#draft.facts;
    if (only !== undefined && others.length === 0)
      this.#draft.batches.move(only, { is: 'accused', run: probe.run, verdict: shortest.probe.red, onto });
    else for (const batch of train.batches.slice(0, length)) this.#draft.batches.again(batch);
    return true;
  }

  /** Drops probes of stacks that are no longer the train. */
  #dropProbes(): void {
    if (this.#draft.probes.length === 0) return;
    const train = this.#draft.wholeTrain();
    this.#draft.probes = this.#draft.probes.filter((probe) => train.lengthOf(probe) !== undefined);
  }

  /** Running checks that no batch, probe or target check needs any more. */
  #uselessRuns(): readonly number[] {
    const wanted = new Set(runsOf(this.#draft.state()));
    const running = new Set(this.#draft.facts.running);
    for (const { run } of this.#draft.facts.ended) running.delete(run);
    return runsOf(this.#before).filter((run) => running.has(run) && !wanted.has(run));
  }

  #rejections(): readonly Rejection[] {
    const conflicting = this.#draft.facts.entries
      .filter(({ landing, conflict }) => conflict !== null || this.#draft.stacks.misfits.has(landing))
      .map((entry): Rejection => ({ change: plain(entry), because: 'conflict', run: null }));
    const guilty = this.#draft.batches.all.flatMap(({ stage, changes: [change] }): readonly Rejection[] =>
      stage.is === 'guilty' && change !== undefined && !this.#draft.entries.get(change.landing)?.isUnchecked
        ? [{ change, because: stage.verdict, run: stage.run }]
        : [],
    );
    return [...conflicting, ...guilty];
  }

  #stall(): WaitReason | null {
    const { blocked, entries, isPaused, slots, target } = this.#draft.facts;
    const rejected = new Set(this.#rejections().map(({ change }) => change.landing));
    const waiting = entries.filter(({ landing }) => !rejected.has(landing));
    if (waiting.length === 0 || this.#draft.runs > 0) return null;
    if (blocked !== null) return blocked;
    if (isPaused) return { kind: 'paused', comment: null };
    if (this.#draft.trouble !== null)
      return { kind: 'checks_unavailable', detail: this.#draft.trouble.reason };
    if (this.#draft.isTargetRed) {
      const failed = this.#draft.audit?.failed;
      return { kind: 'target_red', target, ...(failed && { failed }) };
    }
    const held = waiting.find((entry) => entry.held !== null);
    if (held !== undefined) return held.held;
    return { kind: slots === 0 ? 'no_slot' : 'nothing_to_check' };
  }
}
