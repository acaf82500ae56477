/**
 * One pass of the loop: observe → decide → act. Everything that matters is on the board: two orchestrators on one board,
 * or one after the other with a kill in between, do the same work once.
 *
 * Order of a pass: recover crashed attempts, so that their slots are free; land, so that new work builds on it; start ready
 * tasks. Ending processes, removing worktrees and checks take long and run in the background, once per task or target.
 */

import {
  type AgentName,
  type AttemptId,
  type BranchName,
  type CommitId,
  type LandingId,
  type TaskId,
  parseTaskId,
} from '../kernel/ids.ts';
import { defaultPolicy } from '../kernel/policy.ts';
import { RecentCache } from '../kernel/recent-cache.ts';
import type { Landing } from '../queue/rules/landing.ts';
import { LandedSnapshots } from './landed-snapshots.ts';
import { Repositories } from './repositories.ts';
import { NodeDuty, type NodeNow } from './node-duty.ts';
import { decideHandOvers, drainReason } from './rules/drain.ts';
import type { QueueCause } from '../queue/rules/hand-back.ts';
import { decideRecoveries } from './rules/reconcile.ts';
import { type Placement, Scheduler, afterStart } from './rules/schedule.ts';
import type { Task, TaskSummary } from '../tasks/rules/task.ts';
import type { Outcome } from '../board/context.ts';
import { type BeginOutcome, beginAttempt } from '../agents/act/begin-attempt.ts';
import { type AskAgent, type RejectedLanding, handBack } from '../queue/lead/hand-back.ts';
import type { LandedTask } from '../queue/lead/record-landed.ts';
import { handIn } from '../queue/lead/heads/hand-in.ts';
import { type Lead, LeadSilence, giveBackUnused, lead, queueResource } from '../queue/lead/leadership.ts';
import { type RunningTask, LeaseAges, observeRunning } from '../agents/act/observe.ts';
import { restartDue } from '../agents/act/auto-restart.ts';
import { ScheduleDuty } from '../intake/act/schedule-duty.ts';
import { preferApart } from '../radar/prefer-apart.ts';
import { PullRequests } from '../review/act/pull-request-follow.ts';
import { endLeftBehind, handOver, recover } from '../agents/act/recover.ts';
import { removeFailed } from './remove-failed.ts';
import { leadQueue } from '../queue/lead/lead-queue.ts';
import { type QueueMemory, newQueueMemory } from '../queue/lead/memory.ts';
import { workspaceOf } from '../workspaces/act/context.ts';
import { removeLanded } from '../workspaces/discard/remove-landed.ts';
import { type RunContext, contextOf } from '../queue/context.ts';
import { splitTarget } from '../queue/rules/target-name.ts';
import { SourceDuty } from '../intake/act/duty.ts';
import { processList } from '../kernel/process.ts';
import { findLost, shareLeft } from '../agents/act/share/share-left.ts';
import { sharesWork } from '../workspaces/act/shared/share-work.ts';
import { scheduleFacts } from '../agents/act/schedule-facts.ts';

const MOST_REMEMBERED = defaultPolicy.orchestratorMemory.tries;

/** Reports what the board does not record, such as a process that cannot be ended. Null: about a queue, not a task. */
export type ReportProblem = (task: TaskId | null, reason: string) => void;

export interface Pass {
  readonly running: readonly RunningTask[];
  readonly landings: readonly Landing[];
  /** Ready tasks that did not start; once the node is full, the rest is not looked at. */
  readonly waiting: readonly Extract<Placement, { kind: 'waiting' }>[];
  readonly hasStarted: boolean;
  readonly here: NodeNow;
  /** The node drains, and no agent runs on it any more. */
  readonly isDrained: boolean;
}

/**
 * What it keeps between passes; losing all of it only costs time. Of what it tried and told, it keeps the latest.
 *
 *   duty          whether this node drains, and since when it knows
 *   leaseAges     how long each lease has not changed, on a clock that does not jump
 *   pullRequests  when each pull request is looked at again
 *   schedules     whether the schedules of copse.yml are on the board
 *   sources       when each source of work items is looked at again
 *   background    work for a task that goes on beside the passes: at most one for each task
 *   leading       queues that this process leads now
 *   silences      what it saw of the leads of each repository's queues
 *   memories      merges and verdicts that it found out about those queues
 *   removalTried  when the removal of a task's worktree was last tried
 *   repositories  the board's own, and those that agents of copse.yml name
 *   landed        landed tasks whose snapshots are to be removed from the remote
 *   handedIn      when a finished commit was pushed for the leader of another machine
 *   lostLooked    the state of a task in which its worktree has nothing to hand in; `lostTried`: when that failed
 *   endingTried   when processes of an attempt could not be ended
 *   reported      the last problem told of each task, and notes told of queues: none is told on every pass
 *   stopping      ends the queues that it leads
 */
export class Orchestrator {
  readonly #context: RunContext;
  readonly #onProblem: ReportProblem;
  readonly #repositories: Repositories;
  readonly #landed: LandedSnapshots;
  readonly #duty: NodeDuty;
  readonly #leaseAges = new LeaseAges();
  readonly #pullRequests: PullRequests;
  readonly #schedules: ScheduleDuty;
  readonly #sources: SourceDuty;
  readonly #background = new Map<TaskId, Promise<void>>();
  readonly #leading = new Map<BranchName, Promise<void>>();
  readonly #memories = new Map<BranchName, QueueMemory>();
  readonly #silences = new Map<string | null, LeadSilence>();
  readonly #removalTried = new RecentCache<TaskId, number>(MOST_REMEMBERED);
  readonly #handedIn = new RecentCache<LandingId, number>(MOST_REMEMBERED);
  readonly #lostLooked = new RecentCache<TaskId, string>(MOST_REMEMBERED);
  readonly #lostTried = new RecentCache<TaskId, number>(MOST_REMEMBERED);
  readonly #endingTried = new RecentCache<AttemptId, number>(MOST_REMEMBERED);
  readonly #reported = new RecentCache<TaskId, string>(MOST_REMEMBERED);
  readonly #reportedNotes = new RecentCache<string, true>(MOST_REMEMBERED);
  readonly #stopping = new AbortController();

  constructor(context: RunContext, onProblem: ReportProblem) {
    this.#context = context;
    this.#onProblem = onProblem;
    const onNote = (reason: string) => this.#reportNote(reason);
    this.#repositories = new Repositories(context, onNote);
    this.#landed = new LandedSnapshots(context, this.#repositories, onNote);
    this.#duty = new NodeDuty(context);
    this.#schedules = new ScheduleDuty(context, onNote);
    this.#pullRequests = new PullRequests(context, (task, reason) => this.#report(task, reason));
    this.#sources = new SourceDuty(context, onNote);
  }

  async pass(): Promise<Pass> {
    const here = await this.#duty.look();
    const running = await observeRunning(this.#context, this.#leaseAges);
    this.#recoverCrashed(running, here);
    this.#handOver(running, here);
    await this.#endLeftovers(running);
    const landings = await this.#repositories.landings();
    this.#handIn(landings);
    this.#landed.pass();
    if (here.leads) await this.#land(landings);
    if (here.draining.kind === 'no') {
      await this.#schedules.pass();
      await restartDue(this.#context);
    }
    // Read again: areas of tasks that have just landed are free.
    const schedule = await this.#schedule(running, await this.#repositories.landings());
    await this.#lookAtWorktrees();
    this.#sources.pass({ starts: here.draining.kind === 'no' });
    for (const { task, work } of await this.#pullRequests.due()) this.#inBackground(task, work);
    // Before the drain is on the board, only this process knows of it.
    const { waiting, hasStarted } =
      here.draining.kind === 'no' ? await this.#startReady(schedule) : { waiting: [], hasStarted: false };
    const isDrained =
      here.draining.kind !== 'no' &&
      this.#background.size === 0 &&
      !running.some(({ held }) => held.node === here.node.id && held.attempt !== null);
    return { running, landings, waiting, hasStarted, here, isDrained };
  }

  /** From now on, no work starts; what runs goes on for this time, and is then handed over. */
  drain(withinMs: number): void {
    this.#duty.drain(withinMs);
  }

  #recoverCrashed(running: readonly RunningTask[], { node, draining }: NodeNow): void {
    const held = running.map((one) => one.held);
    for (const recovery of decideRecoveries(held, this.#context.policy)) {
      // What stops a node often ends its runners too, which is no crash.
      const isStopped = draining.kind !== 'no' && recovery.where === 'here';
      const reason = `${drainReason(node)}, and ${recovery.reason}`;
      this.#end(recovery.task, async () =>
        isStopped
          ? handOver(await this.#repositories.of(recovery.task), recovery, { because: 'drained', reason })
          : recover(await this.#repositories.of(recovery.task), recovery),
      );
    }
  }

  #handOver(running: readonly RunningTask[], { node, draining }: NodeNow): void {
    for (const { held, ...why } of decideHandOvers(running, node, draining.kind === 'over'))
      this.#end(held.task, async () => handOver(await this.#repositories.of(held.task), held, why));
  }

  #end(task: TaskId, work: () => Promise<Outcome<unknown>>): void {
    this.#inBackground(task, async () => {
      const outcome = await work();
      if (outcome.kind === 'refused') this.#report(task, outcome.refusal.reason);
    });
  }

  /** What the first pass after a start would start, and why the other ready tasks wait. Changes nothing. */
  async preview(limit: number): Promise<readonly Placement[]> {
    const { board } = this.#context;
    const running = await observeRunning(this.#context, this.#leaseAges);
    const facts = await scheduleFacts(this.#context, running, await this.#repositories.landings());
    const schedule = new Scheduler(afterStart(facts), this.#context.policy.orchestration);
    const ready = await board.tasks({ statuses: ['ready'], order: 'urgent', limit });
    return Array.from(preferApart(this.#context, ready), (task) => schedule.place(task));
  }

  /** Of every repository that it works in. */
  openLandings(): Promise<readonly Landing[]> {
    return this.#repositories.landings();
  }

  /** Nothing runs in the background. */
  get isQuiet(): boolean {
    return (
      this.#background.size === 0 && this.#leading.size === 0 && this.#landed.isQuiet && this.#sources.isQuiet
    );
  }

  async settle(): Promise<void> {
    while (!this.isQuiet)
      await Promise.all([
        ...this.#background.values(),
        ...this.#leading.values(),
        this.#landed.settle(),
        this.#sources.settle(),
      ]);
  }

  /** Ends running checks; the next leader starts them again. This one leads no queue any more. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const stopsSources = this.#sources.stop();
    for (const { heads } of this.#memories.values()) await heads.stop();
    await this.settle();
    await stopsSources;
    for (const [root, silence] of this.#silences)
      await giveBackUnused(await this.#repositories.at(root), silence);
  }

  async #schedule(running: readonly RunningTask[], landings: readonly Landing[]): Promise<Scheduler> {
    const facts = await scheduleFacts(this.#context, running, landings);
    return new Scheduler(facts, this.#context.policy.orchestration);
  }

  async #startReady(
    schedule: Scheduler,
  ): Promise<{ readonly waiting: Extract<Placement, { kind: 'waiting' }>[]; readonly hasStarted: boolean }> {
    const { board, clock, policy } = this.#context;
    const limit = policy.orchestration.consideredAtOnce;
    const waiting: Extract<Placement, { kind: 'waiting' }>[] = [];
    let hasStarted = false;
    for (let offset = 0; ; offset += limit) {
      const due = clock.now();
      const ready = await board.tasks({ statuses: ['ready'], order: 'urgent', due, limit, offset });
      for (const task of schedule.isFull ? ready : preferApart(this.#context, ready)) {
        const placement = schedule.place(task);
        if (placement.kind === 'waiting') waiting.push(placement);
        else if (await this.#start(task, placement.agent)) hasStarted = true;
        if (schedule.isFull) return { waiting, hasStarted };
      }
      if (ready.length < limit) return { waiting, hasStarted };
    }
  }

  async #start(task: TaskSummary, agent: AgentName): Promise<boolean> {
    if (this.#background.has(task.id)) return false;
    const begun = await beginAttempt(await contextOf(this.#context, task), task.id, agent, { kind: 'claim' });
    // A refusal means that another process claimed it first.
    return this.#reportStart(task.id, begun).kind === 'done';
  }

  #reportStart(task: TaskId, begun: Outcome<BeginOutcome>): Outcome<BeginOutcome> {
    if (begun.kind === 'done' && begun.value.kind === 'no_runner') this.#report(task, begun.value.reason);
    return begun;
  }

  /** Waits for landings, so that new work builds on them; checks and slow landings go on in the background. */
  async #land(landings: readonly Landing[]): Promise<void> {
    const { clock, policy } = this.#context;
    const waited = new AbortController();
    const patience = clock.sleep(policy.orchestration.landFirstMs, waited.signal);
    // A target whose move was interrupted is led even if nothing waits: its checkout is locked until then.
    const unsettled = await this.#repositories.unsettledTargets();
    const targets = new Set([...landings.map((landing) => landing.target), ...unsettled]);
    this.#forgetLeads(targets);
    for (const target of targets) {
      if (this.#leading.has(target)) continue;
      const { promise: busy, resolve } = Promise.withResolvers<void>();
      const led = this.#lead(target, resolve).finally(() => this.#leading.delete(target));
      this.#leading.set(target, led);
      await Promise.race([led, busy, patience]);
    }
    waited.abort();
  }

  #forgetLeads(targets: ReadonlySet<BranchName>): void {
    for (const [root, silence] of this.#silences) {
      const here = [...targets].map(splitTarget).filter((one) => one.root === root);
      silence.forgetAllBut(new Set(here.map(({ branch }) => queueResource(branch))));
    }
  }

  /** Of the queues of one repository, by the names that they have there. */
  #silenceOf(root: string | null): LeadSilence {
    const silence = this.#silences.get(root) ?? new LeadSilence();
    this.#silences.set(root, silence);
    return silence;
  }

  async #lead(named: BranchName, onBusy: () => void): Promise<void> {
    try {
      const { root, context, target } = await this.#repositories.ofTarget(named);
      const memory = this.#memories.get(named) ?? newQueueMemory(context);
      this.#memories.set(named, memory);
      const queueOf = (lead: Lead) => ({
        memory,
        signal: AbortSignal.any([this.#stopping.signal, this.#duty.leading]),
        onLanded: (landed: LandedTask) => this.#afterLanding(landed),
        onRejected: (landing: Landing, cause: QueueCause, tip: CommitId) =>
          this.#handBack(context, lead, { landing, cause, tip }),
        onNote: (note: string) => this.#reportNote(note),
        onBusy,
      });
      const options = { silence: this.#silenceOf(root), isKept: true };
      await lead(context, target, (lead) => leadQueue(context, lead, queueOf(lead)), options);
    } catch (error) {
      this.#reportNote(error instanceof Error ? error.message : String(error));
    }
  }

  #afterLanding({ task, notes }: LandedTask): void {
    for (const note of notes) this.#onProblem(task, note);
    this.#removeWorktree(task);
    this.#landed.add(task);
  }

  /** For leaders of other machines, which say on the board what they lack. */
  #handIn(landings: readonly Landing[]): void {
    for (const landing of landings) {
      if (landing.waiting?.kind !== 'head_missing' || this.#isTooSoon(this.#handedIn.get(landing.id)))
        continue;
      this.#handedIn.set(landing.id, this.#context.clock.elapsedMs());
      this.#inBackground(landing.task, async () => {
        const { context, target } = await this.#repositories.ofTarget(landing.target);
        await handIn(context, { ...landing, target }, this.#stopping.signal);
      });
    }
  }

  async #handBack(context: RunContext, lead: Lead, rejected: RejectedLanding): Promise<void> {
    const { task } = rejected.landing;
    const askAgent: AskAgent = (one, agent) => this.#askAgent(context, lead, one, agent);
    const outcome = await handBack(context, lead, rejected, askAgent);
    // Full by now, or another node leads: it stays in the queue, and the next look tries again.
    if (outcome.kind === 'refused' && !['too_early', 'fenced'].includes(outcome.refusal.code))
      this.#report(task, outcome.refusal.reason);
  }

  async #askAgent(
    context: RunContext,
    lead: Lead,
    { landing, cause, tip }: RejectedLanding,
    agent: AgentName,
  ): Promise<Outcome<unknown>> {
    const request = { kind: 'handback', lead, landing, cause, target: tip } as const;
    return this.#reportStart(landing.task, await beginAttempt(context, landing.task, agent, request));
  }

  /** Ends processes of attempts that are over: their runner was killed after it told the board, or a person stopped them. */
  async #endLeftovers(running: readonly RunningTask[]): Promise<void> {
    const { board, occupancy, runners } = this.#context;
    const held = new Set(running.map(({ held }) => held.attempt));
    for (const id of await runners.known()) {
      if (held.has(id) || this.#isTooSoon(this.#endingTried.get(id))) continue;
      const attempt = await board.get('attempt', id);
      // It has just started, or its runner is about to exit.
      if (!attempt?.end || (attempt.process && (await occupancy.isAlive(attempt.process)))) continue;
      this.#inBackground(attempt.task, async () => {
        const remaining = await endLeftBehind(await this.#repositories.of(attempt.task), id);
        if (remaining.length === 0) return;
        this.#endingTried.set(id, this.#context.clock.elapsedMs());
        const found = `Cannot end these processes of its last attempt: ${processList(remaining)}.`;
        this.#report(attempt.task, found);
      });
    }
  }

  async #lookAtWorktrees(): Promise<void> {
    const { board } = this.#context;
    for (const name of await this.#repositories.worktreeNames()) {
      const id = parseTaskId(name);
      if (id === undefined || this.#background.has(id)) continue;
      const task = await board.get('task', id);
      if (task === undefined || this.#isTooSoon(this.#removalTried.get(id))) continue;
      const { state } = task;
      // Its orchestrator was killed before it removed the worktree.
      if (state.status === 'done' && state.how !== 'as_it_is') this.#removeWorktree(id);
      else await this.#handInLost(task);
      if (state.status === 'failed') this.#removeFailed(id);
    }
  }

  /** Work of an attempt that lost its task while this machine was cut off. Looked at when the task changed. */
  async #handInLost(task: Task): Promise<void> {
    const { id } = task;
    const seen = `${task.token} ${task.state.status}`;
    if (this.#lostLooked.get(id) === seen || this.#isTooSoon(this.#lostTried.get(id))) return;
    const context = await contextOf(this.#context, task);
    if (!(await sharesWork(context))) return;
    const lost = await findLost(context, task);
    if (lost === 'running') return;
    if (lost === 'none') return this.#lostLooked.set(id, seen);
    this.#inBackground(id, async () => {
      const problem = await shareLeft(context, lost);
      if (problem === null) this.#lostLooked.set(id, seen);
      else this.#lostTried.set(id, this.#context.clock.elapsedMs());
      if (problem !== null) this.#report(id, `What its attempt left here is not on the remote: ${problem}`);
    });
  }

  #isTooSoon(triedMs: number | undefined): boolean {
    const { clock, policy } = this.#context;
    return triedMs !== undefined && clock.elapsedMs() - triedMs < policy.orchestration.releaseAgainMs;
  }

  /** Removes the worktree and the branch of a task that landed. */
  #removeWorktree(task: TaskId): void {
    this.#removalTried.set(task, this.#context.clock.elapsedMs());
    this.#inBackground(task, async () => {
      const context = await this.#repositories.of(task);
      const removed = await removeLanded(context, task);
      // One that is on another machine is removed there.
      if (removed.kind === 'refused' && (await workspaceOf(context, task)) !== undefined)
        this.#report(task, removed.reason);
      if (removed.kind !== 'removed') return;
      this.#removalTried.delete(task);
      for (const note of removed.notes) this.#report(task, note);
    });
  }

  /** If its agent's settings say so, and after its work was handed in. */
  #removeFailed(task: TaskId): void {
    if (this.#background.has(task)) return;
    this.#removalTried.set(task, this.#context.clock.elapsedMs());
    this.#inBackground(task, async () => {
      const removed = await removeFailed(await this.#repositories.of(task), task);
      if (removed?.kind === 'refused') this.#report(task, removed.reason);
    });
  }

  /** At most one at a time for each task; a failure is reported, and the next pass tries again. */
  #inBackground(task: TaskId, work: () => Promise<void>): void {
    if (this.#background.has(task)) return;
    const done = work()
      .catch((error: unknown) => this.#report(task, error instanceof Error ? error.message : String(error)))
      .finally(() => this.#background.delete(task));
    this.#background.set(task, done);
  }

  #reportNote(reason: string): void {
    if (this.#reportedNotes.get(reason) !== undefined) return;
    this.#reportedNotes.set(reason, true);
    this.#onProblem(null, reason);
  }

  #report(task: TaskId, reason: string): void {
    if (this.#reported.get(task) === reason) return;
    this.#reported.set(task, reason);
    this.#onProblem(task, reason);
  }
}
