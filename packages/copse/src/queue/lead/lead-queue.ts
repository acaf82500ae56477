/**
 * Leads the queue of one target: looks, asks the decision (queue/rules/decide/decide.ts), acts, and looks again whenever a check ends or the
 * board changes. It keeps nothing that cannot be found out again: killed at any moment, the next leader goes on from the board
 * and from git.
 */

import type { CommitId, LandingId, TaskId } from '../../kernel/ids.ts';
import { type Landing, decideLanding } from '../rules/landing.ts';
import { type CheckRun, type MergeQueue, keepRetry, newQueue } from '../rules/merge-queue.ts';
import { decided } from '../../kernel/decision.ts';
import {
  type Blame,
  type EndedRun,
  type Entry,
  type QueueFacts,
  type QueuePlan,
  type Start,
  decideQueue,
} from '../rules/decide/decide.ts';
import { isInFlight } from '../rules/decide/state.ts';
import type { ProcessIdentity } from '../../kernel/process.ts';
import type { HandbackCause } from '../../tasks/rules/outcomes.ts';
import { change } from '../../board/context.ts';
import { explainBlame } from './blame.ts';
import {
  type LandedTask,
  type LandingStep,
  finishJournalled,
  forgetCandidate,
  goOnInQueue,
  landStack,
  waitInQueue,
} from './land.ts';
import { findInTheWay } from './in-the-way.ts';
import { findLandingBase } from './landing-base.ts';
import { type Lead, requireLead } from './leadership.ts';
import { noticeMovedBranches } from './moved-branches.ts';
import { noteMerges } from './note-merges.ts';
import { queueEntries } from './entries.ts';
import { CheckRuns, type RequiredCheck, requiredChecks } from './checks.ts';
import type { QueueMemory } from './memory.ts';
import type { RunContext } from '../context.ts';

/** `isForPerson`: its agent is not asked again, and nothing is counted: perhaps it is the machine that is too slow. */
export type QueueCause = HandbackCause & { readonly isForPerson: boolean };

export interface QueueOptions {
  readonly memory: QueueMemory;
  readonly signal: AbortSignal;
  /** Only these; for a person who waits for them. */
  readonly only?: ReadonlySet<TaskId>;
  readonly onLanded: (landed: LandedTask) => void;
  /** It stays in the queue until it is handed back, and is named again until then. */
  readonly onBlame: (landing: Landing, cause: QueueCause, target: CommitId) => Promise<void>;
  readonly onNote: (reason: string) => void;
  /** Something is going on that takes its time. */
  readonly onBusy?: () => void;
  readonly onStep?: (step: LandingStep) => void;
}

/** Until nothing is going on and nothing can be begun. */
export async function leadQueue(context: RunContext, lead: Lead, options: QueueOptions): Promise<void> {
  const leader = new QueueLeader(context, lead, options);
  const subscription = await context.board.onChange(() => leader.wake());
  try {
    await leader.run();
  } finally {
    await subscription.stop();
    await leader.stop();
  }
}

class QueueLeader {
  readonly #context: RunContext;
  readonly #lead: Lead;
  readonly #options: QueueOptions;
  readonly #required: readonly RequiredCheck[];
  readonly #runs: CheckRuns;
  #woken = new AbortController();
  #isLost = false;
  #hasLanded = false;
  /** Looks in a row after which there was more to do and nothing had landed. */
  #vain = 0;

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

  async stop(): Promise<void> {
    await this.#runs.stop();
    if (this.#isLost) return;
    await this.#forgetRuns();
    await forgetCandidate(this.#context, this.#lead.target);
  }

  /** Whoever looks until somebody leads again should not see checks that nobody runs. */
  async #forgetRuns(): Promise<void> {
    await change(this.#context, async (change) => {
      await requireLead(change, this.#lead);
      const queue = await change.board.get('queue', this.#lead.target);
      if (queue === undefined || queue.runs.length === 0) return;
      const { id, state } = queue;
      await change.apply(decided({ type: 'queue.decided', id, at: change.at, state, runs: [] }));
    });
  }

  async run(): Promise<void> {
    const { clock, checks, occupancy, pid, policy } = this.#context;
    const { gatherMs } = policy.orchestration;
    const { lookEveryMs, longestPause } = policy.landing;
    const { signal } = this.#options;
    // Of a leader that was killed: the target has it, or it is built again.
    await forgetCandidate(this.#context, this.#lead.target);
    if (this.#required.length > 0) {
      for (const note of await checks.recover()) this.#options.onNote(note);
      this.#process = await occupancy.identify(pid);
    }
    while (!signal.aborted && !this.#isLost) {
      this.#woken = new AbortController();
      this.#hasLanded = false;
      if (await this.#look()) {
        // What is refused again and again must not keep the machine busy.
        this.#vain = this.#hasLanded ? 0 : Math.min(this.#vain + 1, longestPause);
        if (this.#vain > 0) await clock.sleep(this.#vain * gatherMs, signal);
        continue;
      }
      if (this.#runs.isEmpty && !(await this.#isTroubled())) return;
      this.#options.onBusy?.();
      await clock.sleep(lookEveryMs, AbortSignal.any([signal, this.#woken.signal]));
      await clock.sleep(gatherMs, signal);
    }
  }

  /** Checks that could not run are tried again soon; after some times of that it is for whoever looks next. */
  async #isTroubled(): Promise<boolean> {
    const queue = await this.#context.board.get('queue', this.#lead.target);
    const trouble = queue?.state.trouble ?? null;
    if (trouble === null || queue?.paused.land !== null) return false;
    const { patientTimes } = this.#context.policy.landing;
    return trouble.times <= patientTimes && (await this.#openLandings()).length > 0;
  }

  /** True when something changed by it, so that there may be more to do. */
  async #look(): Promise<boolean> {
    if (!(await this.#lead.renew())) {
      this.#isLost = true;
      return false;
    }
    const open = await this.#openLandings();
    const finished = await finishJournalled(this.#context, this.#lead.target, open);
    if (finished.length > 0) {
      this.#hasLanded = true;
      for (const landed of finished) this.#options.onLanded(landed);
      return true;
    }
    const { landings, hasChanged } = await noticeMovedBranches(this.#context, open);
    if (hasChanged) return true;
    const queue = (await this.#context.board.get('queue', this.#lead.target)) ?? newQueue(this.#lead.target);
    const [first] = landings;
    if (first === undefined) return this.#clear(queue);
    const base = await this.#findBase(first);
    if (!base.found) {
      for (const landing of landings) await waitInQueue(this.#context, landing, base.reason);
      return false;
    }
    return this.#decideAndAct(queue, landings, base);
  }

  #fetchedMs = -Infinity;

  async #findBase(first: Landing, isAboutToLand = false): ReturnType<typeof findLandingBase> {
    const nowMs = this.#context.clock.elapsedMs();
    const isFetched = !isAboutToLand && nowMs - this.#fetchedMs < this.#context.policy.landing.fetchEveryMs;
    const base = await findLandingBase(this.#context, first, { isFetched });
    if (base.found && !isFetched) this.#fetchedMs = nowMs;
    return base;
  }

  async #openLandings(): Promise<readonly Landing[]> {
    const { only } = this.#options;
    const open = await this.#context.board.openLandings();
    return open.filter(
      ({ target, task }) => target === this.#lead.target && (only === undefined || only.has(task)),
    );
  }

  /** Everything left the queue: what it remembers of batches is over, and so are their checks. */
  async #clear(queue: MergeQueue): Promise<boolean> {
    await this.#runs.abandon(this.#runs.wanted);
    const { state } = queue;
    if (queue.runs.length === 0 && state.batches.length === 0) return false;
    const empty = { ...state, batches: [], probes: [], audit: null, trouble: null, passedOver: {} };
    await this.#save(queue, empty, [], []);
    return false;
  }

  async #decideAndAct(
    queue: MergeQueue,
    landings: readonly Landing[],
    base: Base,
    aside: ReadonlyMap<LandingId, string> = new Map(),
  ): Promise<boolean> {
    // At the same moment: a check that ends in between would count as lost.
    const running = this.#runs.wanted;
    const ended = await this.#heard(queue, base.onto, this.#runs.takeEnded());
    const observed = await queueEntries(this.#context, queue, landings, {
      tip: base.onto,
      memory: this.#options.memory,
      hasChecks: this.#required.length > 0,
    });
    const entries: Entry[] = [];
    for (const entry of observed.entries)
      entries.push({ ...entry, held: aside.get(entry.landing) ?? entry.held });
    const blocked = this.#blocked(queue, landings);
    let isBlocked = blocked !== null;
    const seen = { entries, tip: base.onto, ended, running };
    let plan = await this.#decide(queue, { ...seen, blocked });
    let hasChanged = false;
    if (plan.land !== null) {
      const [first] = landings;
      const agoMs = this.#context.clock.elapsedMs() - this.#fetchedMs;
      const { landing, policy } = this.#context;
      const isOld = landing.push && agoMs > policy.landing.freshMs;
      const now = isOld && first !== undefined ? await this.#findBase(first, true) : base;
      // Somebody pushed meanwhile: everything is looked at again on top of that.
      if (!now.found || now.onto !== base.onto || now.local !== base.local) return true;
      const outcome = await this.#land(plan.land, base);
      this.#hasLanded = outcome.moved;
      if (!outcome.moved && outcome.reason === null) {
        hasChanged = true;
        this.#isLost ||= outcome.isLeadLost;
      }
      if (this.#isLost) return false;
      if (!outcome.moved && outcome.reason !== null) {
        const inTheWay = await this.#inTheWay(plan.land, base);
        if (inTheWay !== undefined) {
          // The others need not wait for it.
          const held = new Map([...aside, [inTheWay, outcome.reason] as const]);
          return this.#decideAndAct(queue, landings, base, held);
        }
        // The checks go on although the target cannot move.
        isBlocked = true;
        plan = await this.#decide(queue, { ...seen, blocked: outcome.reason });
      }
    }
    const runs = await this.#carryOut(queue, landings, plan);
    for (const blame of plan.handBack) await this.#blame(blame, landings, base.onto);
    await this.#sayWhy(queue, landings, entries, plan, { isMoving: runs.length > 0, isBlocked });
    return this.#hasLanded || hasChanged;
  }

  #blocked({ paused }: MergeQueue, landings: readonly Landing[]): string | null {
    if (paused.land !== null) return pausedText(paused.land.reason);
    const { memory } = this.#options;
    const { clock, policy } = this.#context;
    if (memory.refusal === null) return null;
    const { atMs, reason, landings: refused } = memory.refusal;
    // Whoever was told to wait by the remote and waits no longer was asked by a person to try again.
    const isAsked = landings.some(({ id, waiting }) => waiting === null && refused.has(id));
    if (isAsked) memory.refusal = null;
    return !isAsked && clock.elapsedMs() - atMs < policy.landing.pushAgainMs ? reason : null;
  }

  async #heard(
    queue: MergeQueue,
    tip: CommitId,
    runs: ReturnType<CheckRuns['takeEnded']>,
  ): Promise<readonly EndedRun[]> {
    const ended: EndedRun[] = [];
    for (const { tree, ...run } of runs) {
      this.#options.memory.candidates.forgetVerdict(tree);
      const batch = queue.state.batches.find(({ stage }) => stage.is === 'checking' && stage.run === run.run);
      const onto = batch?.stage.is === 'checking' ? batch.stage.onto : tip;
      const isOntoLanded = await this.#context.git.isAncestor(onto, tip);
      ended.push({ ...run, isOntoLanded });
    }
    return ended;
  }

  async #decide(queue: MergeQueue, seen: Seen): Promise<QueuePlan> {
    const { policy, clock, landing: settings } = this.#context;
    const { candidates } = this.#options.memory;
    const abandoned = this.#runs.slots.length - this.#runs.wanted.length;
    const facts = {
      ...seen,
      now: clock.now(),
      landed: await this.#landedOf(queue, seen.entries),
      slots: Math.max(0, settings.slots - abandoned),
      hasChecks: this.#required.length > 0,
      everyCommitGreen: settings.every_commit_green,
      isPaused: queue.paused.land !== null,
    };
    for (;;) {
      const decision = decideQueue(queue.state, facts, (stack) => candidates.look(stack), policy.landing);
      if (decision.needs === null) return decision.plan;
      await candidates.find(decision.needs);
    }
  }

  /** Of what the queue remembers, what is on the target by now. */
  async #landedOf({ state }: MergeQueue, entries: readonly Entry[]): Promise<readonly Landing['id'][]> {
    const open = new Set(entries.map(({ landing }) => landing));
    const gone = state.batches.flatMap(({ changes }) => changes).filter(({ landing }) => !open.has(landing));
    const records = await Promise.all(gone.map(({ landing }) => this.#context.board.get('landing', landing)));
    return records.flatMap((record) => (record?.state.status === 'landed' ? [record.id] : []));
  }

  /** Only of several, and without checks: then the others can land all the same. */
  async #inTheWay(land: NonNullable<QueuePlan['land']>, base: Base): Promise<LandingId | undefined> {
    if (this.#required.length > 0 || land.changes.length < 2) return undefined;
    const steps = await this.#options.memory.candidates.steps(land);
    return findInTheWay(this.#context, { target: this.#lead.target, from: base.local }, steps);
  }

  async #land(land: NonNullable<QueuePlan['land']>, base: Base): ReturnType<typeof landStack> {
    const { candidates } = this.#options.memory;
    const steps = await candidates.steps(land);
    await noteMerges(this.#context, this.#lead, steps);
    this.#options.onStep?.('merged');
    const outcome = await landStack(
      this.#context,
      this.#lead,
      {
        local: base.local,
        remote: base.remote,
        commit: land.commit,
        tree: await candidates.treeOf(land.commit),
        changes: steps.map(({ landing, task, head, commit, commits, note }) => ({
          landing,
          task,
          head,
          commit,
          notes: [
            ...(commits === 0 ? [`${this.#lead.target} has all of it already.`] : []),
            ...(note === null ? [] : [note]),
          ],
        })),
        required: this.#required.map(({ key }) => key),
        isChecked: land.isChecked,
      },
      this.#options.onStep ?? (() => {}),
    );
    if (outcome.moved) for (const landed of outcome.landed) this.#options.onLanded(landed);
    else if (outcome.reason === null) candidates.forgetVerdict(await candidates.treeOf(land.commit));
    else if (outcome.isRefused) {
      const landings = new Set(land.changes.map(({ landing }) => landing));
      const atMs = this.#context.clock.elapsedMs();
      this.#options.memory.refusal = { atMs, reason: outcome.reason, landings };
    }
    return outcome;
  }

  /** Writes down what is going to be done, then does it: whoever is killed in between finds checks that nobody runs. */
  async #carryOut(
    queue: MergeQueue,
    landings: readonly Landing[],
    plan: QueuePlan,
  ): Promise<readonly CheckRun[]> {
    // Their slots are free only once they are gone.
    await this.#runs.abandon(plan.abandon);
    const started = plan.start.map((start) => this.#place(start));
    const wanted = new Set(this.#runs.wanted);
    const runs = [...queue.runs.filter(({ run }) => wanted.has(run)), ...started];
    const isSaved = await this.#save(queue, plan.state, runs, landings);
    if (!isSaved) return runs;
    for (const run of started) {
      const tree = await this.#options.memory.candidates.treeOf(run.commit);
      this.#runs.start({ run: run.run, slot: run.slot, commit: run.commit, tree });
    }
    return runs;
  }

  readonly #taken = new Set<number>();
  #process: ProcessIdentity | undefined;

  #place({ run, purpose, commit, changes }: Start): CheckRun {
    const { clock, node } = this.#context;
    const busy = new Set([...this.#runs.slots, ...this.#taken]);
    let slot = 1;
    while (busy.has(slot)) slot += 1;
    this.#taken.add(slot);
    const landings = changes.map(({ landing }) => landing);
    const by = this.#process && { process: this.#process };
    return { run, purpose, commit, landings, slot, node, ...by, since: clock.now() };
  }

  async #save(
    queue: MergeQueue,
    state: MergeQueue['state'],
    runs: readonly CheckRun[],
    landings: readonly Landing[],
  ): Promise<boolean> {
    this.#taken.clear();
    const isSame = JSON.stringify([queue.state, queue.runs]) === JSON.stringify([state, runs]);
    const inFlight = new Map<string, CommitId>();
    for (const batch of state.batches.filter(isInFlight))
      for (const { landing, head } of batch.changes) inFlight.set(landing, head);
    const isChecked = (landing: Landing) =>
      landing.state.status === 'queued' && landing.waiting === null && inFlight.has(landing.id);
    const isReturned = ({ id, state: { status } }: Landing) => status === 'checking' && !inFlight.has(id);
    const moved = landings.filter((landing) => isChecked(landing) || isReturned(landing));
    if (isSame && moved.length === 0) return true;
    const outcome = await change(this.#context, async (change) => {
      await requireLead(change, this.#lead);
      if (!isSame) {
        const written = await change.board.get('queue', queue.id);
        const kept = keepRetry(state, queue.state, written?.state ?? queue.state);
        await change.apply(
          decided({ type: 'queue.decided', id: queue.id, at: change.at, state: kept, runs }),
        );
      }
      for (const { id, task } of moved) {
        const current = await change.board.get('landing', id);
        const owner = await change.board.get('task', task);
        if (current === undefined || owner?.state.status !== 'landing') continue;
        const run = runs.find(({ landings }) => landings.includes(id));
        if (isChecked(current))
          await change.apply(
            decideLanding(current, { action: 'check', candidate: run?.commit ?? current.head }, change.at),
          );
        else if (isReturned(current)) {
          const reason = 'it is checked again with others';
          const { head } = current;
          await change.apply(decideLanding(current, { action: 'requeue', head, reason }, change.at));
        }
      }
    });
    if (!outcome.ok) this.#isLost = outcome.refusal.code === 'fenced';
    return outcome.ok;
  }

  async #blame(blame: Blame, landings: readonly Landing[], tip: CommitId): Promise<void> {
    const landing = landings.find(({ id }) => id === blame.change.landing);
    if (landing === undefined) return;
    const { memory } = this.#options;
    const cause = await explainBlame(this.#context, landing, blame, tip, memory);
    await this.#options.onBlame(landing, { ...cause, isForPerson: blame.because === 'timeout' }, tip);
  }

  /** Whoever cannot land although nothing is wrong with it says what it waits for. */
  async #sayWhy(
    queue: MergeQueue,
    landings: readonly Landing[],
    entries: readonly Entry[],
    plan: QueuePlan,
    { isMoving, isBlocked }: { readonly isMoving: boolean; readonly isBlocked: boolean },
  ): Promise<void> {
    // A check that is begun to see whether checks work again is no movement yet.
    const isInTrouble = plan.state.trouble !== null;
    const held = new Map(entries.flatMap((entry) => (entry.held ? [[entry.landing, entry.held]] : [])));
    const blamed = new Set(plan.handBack.map(({ change }) => change.landing));
    for (const landing of landings) {
      const reason = held.get(landing.id) ?? plan.stall;
      if (blamed.has(landing.id)) continue;
      if (reason !== null) await waitInQueue(this.#context, landing, reason);
      else if (landing.waiting !== null && !isBlocked && !isInTrouble)
        await goOnInQueue(this.#context, landing);
    }
    if (queue.stalled !== null && isInTrouble) return;
    const stalled = isMoving || plan.land !== null ? null : plan.stall;
    if (stalled === (queue.stalled?.reason ?? null)) return;
    await change(this.#context, async (change) => {
      const of = { id: queue.id, at: change.at };
      await change.apply(
        decided(
          stalled === null
            ? { type: 'queue.moving', ...of }
            : { type: 'queue.stalled', ...of, reason: stalled },
        ),
      );
    });
  }
}

type Seen = Pick<QueueFacts, 'entries' | 'tip' | 'ended' | 'running' | 'blocked'>;
type Base = Extract<Awaited<ReturnType<typeof findLandingBase>>, { found: true }>;

function pausedText(reason: string | null): string {
  return reason === null ? 'the queue is paused' : `the queue is paused: ${reason}`;
}
