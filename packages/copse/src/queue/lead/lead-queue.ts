/**
 * Leads the queue of one target. It keeps nothing that cannot be found out again: killed at any moment, the next leader
 * goes on from the board and from git. The loop goes from status to status:
 *
 *   looking   reads the board and git
 *             → ended      the lead is lost, or the signal came
 *             → changed    an interrupted landing was finished, or a branch moved
 *             → unchanged  the queue is empty, or it is unknown what to land on
 *             → deciding   otherwise
 *   deciding  asks rules/decide what to start, land and hand back
 *             → landing    something can land
 *             → acting     nothing can
 *   landing   moves the target
 *             → changed    the remote moved since the look, or others pushed first too often
 *             → ended      the lead is lost
 *             → deciding   the target cannot move; decided again with that fact, so that checks go on
 *             → acting     it moved, or something changed meanwhile
 *   acting    writes the state, starts and stops checks, hands back, records why entries wait
 *             → ended      the lead is lost
 *             → changed    something landed or changed
 *             → unchanged  otherwise
 *   changed   → looking, at once after a landing, else after a pause that grows
 *   unchanged → ended      no check is running and none is retried soon
 *             → looking    when a check ends, the board changes, or after a while
 */

import type { CommitId, LandingId, TaskId } from '../../kernel/ids.ts';
import type { Landing } from '../rules/landing.ts';
import { type MergeQueue, newQueue } from '../rules/merge-queue.ts';
import { decided } from '../../kernel/decision.ts';
import { unreachable } from '../../kernel/unreachable.ts';
import {
  type EndedRun,
  type QueueFacts,
  type QueuePlan,
  type Rejection,
  decideQueue,
} from '../rules/decide/decide.ts';
import type { QueueCause } from '../rules/hand-back.ts';
import type { QueuedChange } from '../rules/decide/state.ts';
import type { ProcessIdentity } from '../../kernel/process.ts';
import type { WaitReason } from '../rules/wait-reason.ts';
import { change } from '../../board/context.ts';
import { explainRejection } from './rejection.ts';
import {
  type FoundBase,
  type LandPlan,
  type LandingStep,
  type StackMoved,
  findInTheWay,
  landPlanned,
} from './land.ts';
import { type LandingBase, findLandingBase } from './landing-base.ts';
import { type Lead, requireLead, whileRenewing } from './leadership.ts';
import { bringHeads } from './heads/bring.ts';
import { noticeMovedBranches } from './moved-branches.ts';
import { type LandedTask, finishJournalled, forgetCandidate } from './record-landed.ts';
import { queueEntries } from './entries.ts';
import { detailOf } from '../rules/failures.ts';
import { giveUpLanding } from './hand-back.ts';
import { CheckRuns, type RequiredCheck, requiredChecks } from './checks.ts';
import { type RecordedState, placeRuns, saveQueue } from './save-queue.ts';
import { type QueueMemory, forgetSuperseded } from './memory.ts';
import { type WaitFacts, recordStall, recordWaits, waitInQueue } from './waits.ts';
import type { RunContext } from '../context.ts';

export interface QueueOptions {
  readonly memory: QueueMemory;
  readonly signal: AbortSignal;
  /** Only these tasks; for a person who waits for them. */
  readonly only?: ReadonlySet<TaskId>;
  readonly onLanded: (landed: LandedTask) => void;
  /** A landing that is not handed back stays in the queue, and the next look rejects it again. */
  readonly onRejected: (landing: Landing, cause: QueueCause, tip: CommitId) => Promise<void>;
  readonly onNote: (reason: string) => void;
  /** Checks are running, which takes a while. */
  readonly onBusy?: () => void;
  readonly onStep?: (step: LandingStep) => void;
}

/** Until no check is running and none can start. */
export async function leadQueue(context: RunContext, lead: Lead, options: QueueOptions): Promise<void> {
  const leader = new QueueLeader(context, lead, options);
  const subscription = await context.board.onChange(() => leader.wake());
  let hasLead = true;
  try {
    hasLead = (await leader.run()) !== 'lead_lost';
  } catch (error) {
    // Part of the queue's state: without it, `why` would say that everything lands soon.
    const reason = { kind: 'queue_failed', detail: detailOf(error) } as const;
    await recordStall(context, lead, reason).catch(() => {});
    throw error;
  } finally {
    await subscription.stop();
    await leader.stop({ hasLead });
  }
}

/** What a look found. */
interface Seen extends WaitFacts {
  readonly base: FoundBase;
  /** Both read at the same moment: a check that ends in between would count as lost. */
  readonly running: readonly number[];
  readonly ended: readonly EndedRun[];
}

type Status =
  | { readonly kind: 'looking' }
  | { readonly kind: 'deciding'; readonly seen: Seen }
  | { readonly kind: 'landing'; readonly seen: Seen; readonly plan: QueuePlan; readonly land: LandPlan }
  | {
      readonly kind: 'acting';
      readonly seen: Seen;
      readonly plan: QueuePlan;
      /** What the landing came to; null when there was none. */
      readonly landed: 'landed' | 'outdated' | null;
    }
  | { readonly kind: 'changed'; readonly hasLanded: boolean }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'ended'; readonly because: End };

type End = 'idle' | 'stopped' | 'lead_lost';

interface Planned {
  readonly land: LandPlan;
  readonly base: FoundBase;
}

const LEAD_LOST: Status = { kind: 'ended', because: 'lead_lost' };

class QueueLeader {
  readonly #context: RunContext;
  readonly #lead: Lead;
  readonly #options: QueueOptions;
  readonly #required: readonly RequiredCheck[];
  readonly #runs: CheckRuns;
  /** Aborted when a check ends or the board changes; renewed at every look. */
  #woken = new AbortController();
  /** When the remote was last asked. */
  #fetchedMs = -Infinity;
  /** Looks in a row that changed something and landed nothing. */
  #vainLooks = 0;
  /** Of this process, written beside its checks; undefined where the system does not tell processes apart. */
  #process: ProcessIdentity | undefined;

  constructor(context: RunContext, lead: Lead, options: QueueOptions) {
    this.#context = context;
    this.#lead = lead;
    this.#options = options;
    this.#required = requiredChecks(context);
    this.#runs = new CheckRuns(context, lead.target, {
      required: this.#required,
      failures: options.memory.failures,
      onEnd: () => this.wake(),
    });
  }

  wake(): void {
    this.#woken.abort();
  }

  async run(): Promise<End> {
    await this.#recover();
    let status: Status = { kind: 'looking' };
    while (status.kind !== 'ended') status = await this.#next(status);
    return status.because;
  }

  async #next(status: Exclude<Status, { kind: 'ended' }>): Promise<Status> {
    switch (status.kind) {
      case 'looking':
        return this.#look();
      case 'deciding':
        return this.#decide(status.seen);
      case 'landing':
        return this.#land(status);
      case 'acting':
        return this.#act(status);
      case 'changed':
        return this.#pause(status);
      case 'unchanged':
        return this.#sleep();
      default:
        return unreachable(status);
    }
  }

  /** Without the lead the board is left to the new leader. */
  async stop({ hasLead }: { readonly hasLead: boolean }): Promise<void> {
    await this.#runs.stop();
    if (!hasLead) return;
    await this.#clearRecordedRuns();
    await forgetCandidate(this.#context, this.#lead.target);
  }

  /** What a killed leader left: a kept candidate, which the target has or is built again, and running checks. */
  async #recover(): Promise<void> {
    const { checks, occupancy, pid, merging } = this.#context;
    const settled = await merging.settleTarget(this.#lead.target);
    if (settled.kind === 'settled' && settled.left !== null) this.#options.onNote(settled.left);
    await forgetCandidate(this.#context, this.#lead.target);
    if (this.#required.length === 0) return;
    for (const note of await checks.recover()) this.#options.onNote(note);
    this.#process = await occupancy.identify(pid);
  }

  /** Clears recorded runs, so that the view shows none while there is no leader. */
  async #clearRecordedRuns(): Promise<void> {
    await change(this.#context, async (change) => {
      await requireLead(change, this.#lead);
      const queue = await change.board.get('queue', this.#lead.target);
      if (queue === undefined || queue.runs.length === 0) return;
      const { id, state } = queue;
      await change.apply(decided({ type: 'queue.decided', id, at: change.at, state, runs: [] }));
    });
  }

  // Looking.

  async #look(): Promise<Status> {
    if (this.#options.signal.aborted) return { kind: 'ended', because: 'stopped' };
    // Renewed before the look: a change during it wakes the next one.
    this.#woken = new AbortController();
    if (!(await this.#lead.renew())) return LEAD_LOST;
    const open = await this.#openLandings();
    const finished = await finishJournalled(this.#context, this.#lead, open);
    if (finished.kind === 'lead_lost') return LEAD_LOST;
    if (finished.kind === 'busy') {
      await recordStall(this.#context, this.#lead, finished.reason);
      return { kind: 'unchanged' };
    }
    for (const landed of finished.landed) this.#options.onLanded(landed);
    if (finished.landed.length > 0) return { kind: 'changed', hasLanded: true };
    const here = await bringHeads(this.#context, this.#lead, open, this.#options.memory);
    const { landings, hasChanged } = await noticeMovedBranches(this.#context, this.#lead, here);
    if (hasChanged) return { kind: 'changed', hasLanded: false };
    const queue = (await this.#context.board.get('queue', this.#lead.target)) ?? newQueue(this.#lead.target);
    const [first] = landings;
    if (first === undefined) return this.#clear(queue);
    const base = await this.#findBase(first);
    if (base.kind === 'unknown') {
      for (const landing of landings) await waitInQueue(this.#context, this.#lead, landing, base.reason);
      return { kind: 'unchanged' };
    }
    return { kind: 'deciding', seen: await this.#observe(queue, landings, base) };
  }

  async #openLandings(): Promise<readonly Landing[]> {
    const { only } = this.#options;
    const open = await this.#context.board.openLandings();
    return open.filter(
      ({ target, task }) => target === this.#lead.target && (only === undefined || only.has(task)),
    );
  }

  /** All entries left the queue: its batches and their checks are dropped. */
  async #clear(queue: MergeQueue): Promise<Status> {
    await this.#runs.abandon(this.#runs.wanted);
    await recordStall(this.#context, this.#lead, null);
    const { state } = queue;
    if (queue.runs.length === 0 && state.batches.length === 0) return { kind: 'unchanged' };
    const empty = { ...state, batches: [], probes: [], audit: null, trouble: null, passedOver: {} };
    const saved = await this.#save(queue, { state: empty, runs: [], landings: [] });
    return saved === 'lead_lost' ? LEAD_LOST : { kind: 'unchanged' };
  }

  async #findBase(first: Landing, { isAboutToLand = false } = {}): Promise<LandingBase> {
    const nowMs = this.#context.clock.elapsedMs();
    const isFetched = !isAboutToLand && nowMs - this.#fetchedMs < this.#context.policy.landing.fetchEveryMs;
    const find = () => findLandingBase(this.#context, first, { isFetched });
    const base = isFetched ? await find() : await whileRenewing(this.#context, this.#lead, find);
    if (base.kind === 'found' && !isFetched) this.#fetchedMs = nowMs;
    return base;
  }

  async #observe(queue: MergeQueue, landings: readonly Landing[], base: FoundBase): Promise<Seen> {
    const running = this.#runs.wanted;
    const ended = await this.#endedRuns(queue, base.onto, this.#runs.takeEnded());
    const { memory } = this.#options;
    await forgetSuperseded(this.#context, memory, { tip: base.onto, state: queue.state });
    const hasChecks = this.#required.length > 0;
    const heads = landings.map(({ head }) => head);
    memory.unsound = await this.#context.merging.examine(base.onto, heads);
    const found = await queueEntries(this.#context, queue, landings, { tip: base.onto, memory, hasChecks });
    const asked = new Set(landings.filter(({ waiting }) => waiting === null).map(({ id }) => id));
    const entries = memory.unexpected.hold(found, { nowMs: this.#context.clock.elapsedMs(), asked });
    return { queue, landings, base, entries, running, ended, blocked: this.#blocked(queue, landings) };
  }

  async #endedRuns(
    queue: MergeQueue,
    tip: CommitId,
    runs: ReturnType<CheckRuns['takeEnded']>,
  ): Promise<readonly EndedRun[]> {
    const ended: EndedRun[] = [];
    for (const { tree, ...run } of runs) {
      this.#options.memory.candidates.forgetVerdict(tree);
      const batch = queue.state.batches.find(({ stage }) => stage.is === 'checking' && stage.run === run.run);
      const onto = batch?.stage.is === 'checking' ? batch.stage.onto : tip;
      ended.push({ ...run, isOntoLanded: await this.#context.git.isAncestor(onto, tip) });
    }
    return ended;
  }

  #blocked({ paused }: MergeQueue, landings: readonly Landing[]): WaitReason | null {
    if (paused.land !== null) return { kind: 'paused', comment: paused.land.reason };
    const { memory } = this.#options;
    const { clock, policy } = this.#context;
    if (memory.refusal === null) return null;
    const { atMs, reason, landings: refused } = memory.refusal;
    // A landing that the remote refused and that no longer waits: a person asked to try it again.
    const isAsked = landings.some(({ id, waiting }) => waiting === null && refused.has(id));
    if (isAsked) memory.refusal = null;
    return !isAsked && clock.elapsedMs() - atMs < policy.landing.pushAgainMs ? reason : null;
  }

  // Deciding.

  async #decide(seen: Seen): Promise<Status> {
    const { policy, landing: settings } = this.#context;
    const { candidates } = this.#options.memory;
    const { queue, entries, base, running, ended, blocked } = seen;
    const abandoned = this.#runs.slots.length - this.#runs.wanted.length;
    const facts: QueueFacts = {
      now: this.#context.clock.now(),
      tip: base.onto,
      entries,
      landed: await this.#landedOf(seen),
      ended,
      running,
      slots: Math.max(0, settings.slots - abandoned),
      hasChecks: this.#required.length > 0,
      everyCommitGreen: settings.every_commit_green,
      blocked,
      isPaused: queue.paused.land !== null,
    };
    for (;;) {
      const decision = decideQueue(queue.state, facts, (stack) => candidates.look(stack), policy.landing);
      if (decision.kind === 'undecided') {
        await candidates.find(decision.stack);
        continue;
      }
      const { plan } = decision;
      return plan.land === null
        ? { kind: 'acting', seen, plan, landed: null }
        : { kind: 'landing', seen, plan, land: plan.land };
    }
  }

  /** Of the changes that the queue remembers, those that have landed. */
  async #landedOf({ queue: { state }, entries }: Seen): Promise<readonly LandingId[]> {
    const open = new Set(entries.map(({ landing }) => landing));
    const gone = state.batches.flatMap(({ changes }) => changes).filter(({ landing }) => !open.has(landing));
    const records = await Promise.all(gone.map(({ landing }) => this.#context.board.get('landing', landing)));
    return records.flatMap((record) => (record?.state.status === 'landed' ? [record.id] : []));
  }

  // Landing.

  async #land({ seen, plan, land }: Extract<Status, { kind: 'landing' }>): Promise<Status> {
    if (await this.#hasBaseMoved(seen)) return { kind: 'changed', hasLanded: false };
    const { memory, onLanded, onStep = () => {} } = this.#options;
    const required = this.#required;
    let planned: Planned | undefined = { land, base: seen.base };
    let outcome: StackMoved = { kind: 'outrun' };
    for (let times = 0; planned !== undefined && outcome.kind === 'outrun'; times += 1) {
      outcome = await landPlanned(this.#context, this.#lead, { ...planned, memory, required, onStep });
      const isAgain = outcome.kind === 'outrun' && times < this.#context.policy.landing.outrunTimes;
      planned = isAgain ? await this.#planOnNewTip(seen, land) : undefined;
    }
    if (outcome.kind === 'landed') for (const one of outcome.landed) onLanded(one);
    if (outcome.kind !== 'failed') memory.unexpected.clear(land.changes);
    switch (outcome.kind) {
      case 'landed':
      case 'outdated':
        return { kind: 'acting', seen, plan, landed: outcome.kind };
      case 'lead_lost':
        return LEAD_LOST;
      case 'outrun':
      case 'push_unknown':
        return { kind: 'changed', hasLanded: false };
      case 'push_refused':
        return { kind: 'deciding', seen: { ...seen, blocked: outcome.reason } };
      case 'blocked':
        return { kind: 'deciding', seen: await this.#withoutBlocked(seen, land, outcome.reason) };
      case 'failed':
        return this.#failed(seen, land, outcome);
      default:
        return unreachable(outcome);
    }
  }

  /**
   * Another push was first. Merged again onto the new tip at once, without a whole look, the next push has a good chance; where
   * the new tree must be checked first, or does not merge, the next look decides.
   */
  async #planOnNewTip({ landings: [first] }: Seen, land: LandPlan): Promise<Planned | undefined> {
    if (first === undefined || this.#options.signal.aborted) return undefined;
    const base = await this.#findBase(first, { isAboutToLand: true });
    if (base.kind === 'unknown') return undefined;
    const { candidates } = this.#options.memory;
    const stack = { onto: base.onto, changes: land.changes };
    await candidates.find(stack);
    const merged = candidates.look(stack);
    if (merged?.kind !== 'merged') return undefined;
    const mustBeGreen = this.#required.length > 0 && land.isChecked;
    if (mustBeGreen && !merged.isGreen) return undefined;
    return { base, land: { ...stack, commit: merged.commit, isChecked: land.isChecked } };
  }

  /** See failures.ts. */
  async #failed(
    seen: Seen,
    { changes }: LandPlan,
    { detail, isFaultOfMachine: isOurs }: { readonly detail: string; readonly isFaultOfMachine: boolean },
  ): Promise<Status> {
    if (isOurs) return { kind: 'deciding', seen: { ...seen, blocked: { kind: 'queue_failed', detail } } };
    const [only, ...others] = changes;
    if (others.length > 0) this.#options.memory.unexpected.suspect(changes);
    else if (only !== undefined) await this.#setAside(seen.landings, only, detail);
    return { kind: 'changed', hasLanded: false };
  }

  /** Tried again later; in the end a person is asked. */
  async #setAside(landings: readonly Landing[], change: QueuedChange, detail: string): Promise<void> {
    const { clock, policy } = this.#context;
    const { unexpected, candidates } = this.#options.memory;
    const landing = landings.find(({ id }) => id === change.landing);
    candidates.forgetFailed(change);
    const nowMs = clock.elapsedMs();
    const times = unexpected.add(change, detail, { nowMs, policy: policy.landing });
    if (landing === undefined) return;
    if (times < policy.landing.failedTimes)
      await waitInQueue(this.#context, this.#lead, landing, { kind: 'landing_failed', detail });
    else await giveUpLanding(this.#context, landing, { because: 'landing', reason: detail }, this.#lead);
  }

  /** The remote is asked once more right before a landing, unless it was asked a moment ago. */
  async #hasBaseMoved({ base, landings: [first] }: Seen): Promise<boolean> {
    const { landing, policy, clock } = this.#context;
    const isOld = landing.push && clock.elapsedMs() - this.#fetchedMs > policy.landing.freshMs;
    if (!isOld || first === undefined) return false;
    const now = await this.#findBase(first, { isAboutToLand: true });
    return now.kind === 'unknown' || now.onto !== base.onto || now.local !== base.local;
  }

  /** Without checks the others can land: only the entry whose files are changed in the checkout is held. */
  async #withoutBlocked(seen: Seen, land: LandPlan, reason: WaitReason): Promise<Seen> {
    const isSeparable = this.#required.length === 0 && land.changes.length > 1;
    const steps = isSeparable ? await this.#options.memory.candidates.steps(land) : [];
    const move = { target: this.#lead.target, from: seen.base.local };
    const inTheWay = await findInTheWay(this.#context, move, steps);
    if (inTheWay === undefined) return { ...seen, blocked: reason };
    const entries = seen.entries.map((entry) =>
      entry.landing === inTheWay ? { ...entry, held: reason } : entry,
    );
    return { ...seen, entries };
  }

  // Acting.

  async #act({ seen, plan, landed }: Extract<Status, { kind: 'acting' }>): Promise<Status> {
    const { queue, landings, base } = seen;
    // A slot is free only once its abandoned check has ended.
    await this.#runs.abandon(plan.abandon);
    const started = placeRuns(this.#context, plan.start, { busy: this.#runs.slots, process: this.#process });
    const wanted = new Set(this.#runs.wanted);
    const runs = [...queue.runs.filter(({ run }) => wanted.has(run)), ...started];
    // Written before they start: after a kill in between, the next leader finds checks that are not running.
    const saved = await this.#save(queue, { state: plan.state, runs, landings });
    if (saved === 'lead_lost') return LEAD_LOST;
    if (saved === 'saved')
      for (const { run, slot, commit } of started)
        this.#runs.start({ run, slot, commit, tree: await this.#options.memory.candidates.treeOf(commit) });
    for (const rejection of plan.handBack) await this.#reject(rejection, landings, base.onto);
    await recordWaits(this.#context, this.#lead, seen, plan, { isMoving: runs.length > 0 });
    return landed === null ? { kind: 'unchanged' } : { kind: 'changed', hasLanded: landed === 'landed' };
  }

  #save(queue: MergeQueue, next: RecordedState): ReturnType<typeof saveQueue> {
    return saveQueue(this.#context, this.#lead, queue, next);
  }

  async #reject(rejection: Rejection, landings: readonly Landing[], tip: CommitId): Promise<void> {
    const landing = landings.find(({ id }) => id === rejection.change.landing);
    if (landing === undefined) return;
    const misfit = this.#options.memory.candidates.misfit(tip, rejection.change);
    if (misfit?.kind === 'failed') return this.#setAside(landings, rejection.change, misfit.detail);
    const cause = await explainRejection(this.#context, landing, rejection, tip, this.#options.memory);
    await this.#options.onRejected(landing, { ...cause, isTimeout: rejection.because === 'timeout' }, tip);
  }

  // Between two looks.

  /** A change that is refused again and again must not keep the machine busy. */
  async #pause({ hasLanded }: Extract<Status, { kind: 'changed' }>): Promise<Status> {
    const { clock, policy } = this.#context;
    this.#vainLooks = hasLanded ? 0 : Math.min(this.#vainLooks + 1, policy.landing.longestPause);
    if (this.#vainLooks > 0)
      await clock.sleep(this.#vainLooks * policy.orchestration.gatherMs, this.#options.signal);
    return { kind: 'looking' };
  }

  async #sleep(): Promise<Status> {
    const { clock, policy } = this.#context;
    const { signal } = this.#options;
    if (this.#runs.isEmpty && !(await this.#isRetriedSoon())) return { kind: 'ended', because: 'idle' };
    this.#options.onBusy?.();
    await clock.sleep(policy.landing.lookEveryMs, AbortSignal.any([signal, this.#woken.signal]));
    await clock.sleep(policy.orchestration.gatherMs, signal);
    return { kind: 'looking' };
  }

  /** Checks that could not run are retried here a few times; after that the next leader retries them. */
  async #isRetriedSoon(): Promise<boolean> {
    const queue = await this.#context.board.get('queue', this.#lead.target);
    const trouble = queue?.state.trouble ?? null;
    if (trouble === null || queue?.paused.land !== null) return false;
    const { patientTimes } = this.#context.policy.landing;
    return trouble.times <= patientTimes && (await this.#openLandings()).length > 0;
  }
}
