/**
 * One pass of the loop: observe → decide → act. It keeps nothing that the board does not know; two of them on one board, or
 * one after the other with a kill in between, do the same work once.
 *
 * Order: what crashed first, so that its place is free; then what is to land, so that others can build on it; then new work.
 * What takes long (ending processes, removing a worktree) goes on beside the passes, once per task.
 */

import { type AgentName, type BranchName, type CommitId, type TaskId, parseTaskId } from '../kernel/ids.ts';
import type { Landing } from '../queue/rules/landing.ts';
import { decideRecoveries } from './rules/reconcile.ts';
import { type Placement, Schedule } from './rules/schedule.ts';
import type { TaskSummary } from '../tasks/rules/task.ts';
import { beginAttempt } from '../agents/act/begin-attempt.ts';
import { resolveByTask, whoResolves } from '../queue/act/conflict-task.ts';
import { type LandedTask, giveUpLanding } from '../queue/lead/land.ts';
import { lead } from '../queue/lead/leadership.ts';
import { type Running, Silences, observeRunning } from '../agents/act/observe.ts';
import { preferApart } from '../radar/prefer-apart.ts';
import { PullRequests } from '../review/act/pull-request-follow.ts';
import { endLeftBehind, recover } from '../agents/act/recover.ts';
import { type QueueCause, leadQueue } from '../queue/lead/lead-queue.ts';
import { type QueueMemory, newQueueMemory } from '../queue/lead/memory.ts';
import { removeWorkspace } from '../workspaces/discard/remove.ts';
import { type RunContext, agentNamed } from '../queue/context.ts';
import { scheduleFacts } from '../agents/act/schedule-facts.ts';

/** Something that nobody recorded, because nothing changed: why a landing waits, what could not be ended. */
export type Problem = (task: TaskId | null, reason: string) => void;

export interface Pass {
  readonly running: readonly Running[];
  readonly landings: readonly Landing[];
  /** Ready tasks that did not start, as far as they were looked at. */
  readonly waiting: readonly Extract<Placement, { start: false }>[];
  readonly hasStarted: boolean;
}

export class Orchestrator {
  readonly #context: RunContext;
  readonly #onProblem: Problem;
  readonly #silences = new Silences();
  readonly #pullRequests: PullRequests;
  readonly #busy = new Map<TaskId, Promise<void>>();
  /** When the removal of a worktree was last tried. */
  readonly #released = new Map<TaskId, number>();
  /** Queues that this process leads right now, and what it remembers of them. */
  readonly #leading = new Map<BranchName, Promise<void>>();
  readonly #memories = new Map<BranchName, QueueMemory>();
  readonly #stopping = new AbortController();
  /** What was told once is not told on every pass. */
  readonly #told = new Map<TaskId, string>();
  readonly #noted = new Set<string>();

  constructor(context: RunContext, onProblem: Problem) {
    this.#context = context;
    this.#onProblem = onProblem;
    this.#pullRequests = new PullRequests(context, (task, reason) => this.#problem(task, reason));
  }

  async pass(): Promise<Pass> {
    const running = await observeRunning(this.#context, this.#silences);
    for (const recovery of decideRecoveries(
      running.map(({ held }) => held),
      this.#context.policy,
    )) {
      this.#beside(recovery.task, async () => {
        const outcome = await recover(this.#context, recovery);
        if (!outcome.ok) this.#problem(recovery.task, outcome.refusal.reason);
      });
    }
    await this.#endLeftBehind(running);
    const landings = await this.#context.board.openLandings();
    await this.#land(landings);
    // What landed is no longer in anybody's way.
    const schedule = await this.#schedule(running, await this.#context.board.openLandings());
    await this.#releaseLeftovers();
    for (const { task, work } of await this.#pullRequests.due()) this.#beside(task, work);
    const { waiting, hasStarted } = await this.#startReady(schedule);
    return { running, landings, waiting, hasStarted };
  }

  /** What the next pass would start, and why the others wait. Changes nothing. */
  async preview(limit: number): Promise<readonly Placement[]> {
    const { board } = this.#context;
    const running = await observeRunning(this.#context, this.#silences);
    const schedule = await this.#schedule(running, await board.openLandings());
    const ready = await board.tasks({ statuses: ['ready'], order: 'urgent', limit });
    return Array.from(preferApart(this.#context, ready), (task) => schedule.place(task));
  }

  /** Nothing is going on beside the passes. */
  get isQuiet(): boolean {
    return this.#busy.size === 0 && this.#leading.size === 0;
  }

  async settle(): Promise<void> {
    while (!this.isQuiet) await Promise.all([...this.#busy.values(), ...this.#leading.values()]);
  }

  /** Checks that are running are ended; whoever leads next begins them again. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.settle();
  }

  async #schedule(running: readonly Running[], landings: readonly Landing[]): Promise<Schedule> {
    const facts = await scheduleFacts(this.#context, running, landings);
    return new Schedule(facts, this.#context.policy.orchestration);
  }

  async #startReady(
    schedule: Schedule,
  ): Promise<{ readonly waiting: Extract<Placement, { start: false }>[]; readonly hasStarted: boolean }> {
    const { board, clock, policy } = this.#context;
    const limit = policy.orchestration.consideredAtOnce;
    const waiting: Extract<Placement, { start: false }>[] = [];
    let hasStarted = false;
    for (let offset = 0; ; offset += limit) {
      const due = clock.now();
      const ready = await board.tasks({ statuses: ['ready'], order: 'urgent', due, limit, offset });
      for (const task of schedule.isFull ? ready : preferApart(this.#context, ready)) {
        const placement = schedule.place(task);
        if (!placement.start) waiting.push(placement);
        else if (await this.#start(task, placement.agent)) hasStarted = true;
        if (schedule.isFull) return { waiting, hasStarted };
      }
      if (ready.length < limit) return { waiting, hasStarted };
    }
  }

  async #start(task: TaskSummary, agent: AgentName): Promise<boolean> {
    if (this.#busy.has(task.id)) return false;
    const begun = await beginAttempt(this.#context, task.id, agent, { how: 'claim' });
    // A refusal means that somebody else was faster.
    if (!begun.ok) return false;
    if (!begun.value.begun && begun.value.because === 'no_runner') this.#problem(task.id, begun.value.reason);
    return true;
  }

  /** Checks take long and go on beside the passes; what needs none is landed before anything builds on it. */
  async #land(landings: readonly Landing[]): Promise<void> {
    for (const target of new Set(landings.map((landing) => landing.target))) {
      if (this.#leading.has(target)) continue;
      const { promise: busy, resolve } = Promise.withResolvers<void>();
      const led = this.#lead(target, resolve).finally(() => this.#leading.delete(target));
      this.#leading.set(target, led);
      await Promise.race([led, busy]);
    }
  }

  async #lead(target: BranchName, onBusy: () => void): Promise<void> {
    const context = this.#context;
    const memory = this.#memories.get(target) ?? newQueueMemory(context);
    this.#memories.set(target, memory);
    try {
      await lead(context, target, (lead) =>
        leadQueue(context, lead, {
          memory,
          signal: this.#stopping.signal,
          onLanded: (landed) => this.#afterLanding(landed),
          onBlame: (landing, cause, tip) => this.#handBack(landing, cause, tip),
          onNote: (note) => this.#onNote(note),
          onBusy,
        }),
      );
    } catch (error) {
      this.#onNote(error instanceof Error ? error.message : String(error));
    }
  }

  #afterLanding({ task, notes }: LandedTask): void {
    for (const note of notes) this.#onProblem(task, note);
    this.#release(task);
  }

  /** To the agent whose work it is, as soon as there is room for it; to a person when there is no such agent. */
  async #handBack(landing: Landing, cause: QueueCause, target: CommitId): Promise<void> {
    const { board } = this.#context;
    const { task: id } = landing;
    const task = await board.get('task', id);
    const session = task?.session ? await board.get('session', task.session) : undefined;
    const agent = session && agentNamed(this.#context, session.agent);
    const settings = agent?.landing ?? this.#context.landing;
    const who = task && (cause.isForPerson ? 'person' : whoResolves(task, settings, cause));
    if (who === 'task') {
      const resolver = await resolveByTask(this.#context, landing, cause);
      if (!resolver.ok) this.#problem(id, resolver.refusal.reason);
      return;
    }
    if (who !== 'agent' || session === undefined || agent === undefined) {
      const given = await giveUpLanding(this.#context, landing, cause);
      if (!given.ok) this.#problem(id, given.refusal.reason);
      return;
    }
    const request = { how: 'handback', landing, cause, target } as const;
    const begun = await beginAttempt(this.#context, id, session.agent, request);
    if (!begun.ok) {
      // Full by now: it stays in the queue, and the next pass tries again.
      if (begun.refusal.code !== 'too_early') this.#problem(id, begun.refusal.reason);
      return;
    }
    if (!begun.value.begun && begun.value.because === 'no_runner') this.#problem(id, begun.value.reason);
  }

  /** Attempts that are over and left something: their runner was killed after it had told the board, or a person stopped them. */
  async #endLeftBehind(running: readonly Running[]): Promise<void> {
    const { board, occupancy, runners } = this.#context;
    const held = new Set(running.map(({ held }) => held.attempt));
    for (const id of await runners.known()) {
      if (held.has(id)) continue;
      const attempt = await board.get('attempt', id);
      // One that has just begun, or whose runner is about to go by itself.
      if (!attempt?.end || (attempt.process && (await occupancy.isAlive(attempt.process)))) continue;
      this.#beside(attempt.task, async () => {
        const remaining = await endLeftBehind(this.#context, id);
        if (remaining > 0) this.#problem(attempt.task, `${remaining} of its processes cannot be ended.`);
      });
    }
  }

  /** Worktrees of tasks that are done: whoever landed them was killed before they went. */
  async #releaseLeftovers(): Promise<void> {
    const { board, clock, git, policy } = this.#context;
    for (const { name } of git.worktrees()) {
      const id = parseTaskId(name);
      const triedMs = id && this.#released.get(id);
      const isTooSoon =
        triedMs !== undefined && clock.elapsedMs() - triedMs < policy.orchestration.releaseAgainMs;
      if (id === undefined || isTooSoon) continue;
      const state = (await board.get('task', id))?.state;
      if (state?.status === 'done' && state.how !== 'as_it_is') this.#release(id);
    }
  }

  /** The worktree and the branch of a task that landed. */
  #release(task: TaskId): void {
    this.#released.set(task, this.#context.clock.elapsedMs());
    this.#beside(task, async () => {
      const removed = await removeWorkspace(this.#context, task, { by: 'landing' });
      if (removed.kind === 'refused') this.#problem(task, removed.reason);
    });
  }

  /** Once at a time for each task; what fails is told, and the next pass sees what is left to do. */
  #beside(task: TaskId, work: () => Promise<void>): void {
    if (this.#busy.has(task)) return;
    const done = work()
      .catch((error: unknown) => this.#problem(task, error instanceof Error ? error.message : String(error)))
      .finally(() => this.#busy.delete(task));
    this.#busy.set(task, done);
  }

  /** About a queue, not about one task. */
  #onNote(reason: string): void {
    if (this.#noted.has(reason)) return;
    this.#noted.add(reason);
    this.#onProblem(null, reason);
  }

  #problem(task: TaskId, reason: string): void {
    if (this.#told.get(task) === reason) return;
    this.#told.set(task, reason);
    this.#onProblem(task, reason);
  }
}
