/**
 * Runs the demo: the normal loop of the orchestrator, and a stand-in for the person, who answers the questions of agents.
 * With the dashboard a person answers. It ends when the orchestrator is idle and no question is open.
 */

import type { Context } from '../board/context.ts';
import { restartTask } from '../agents/act/go-on.ts';
import { Orchestrator, type Pass, type ReportProblem } from '../orchestrator/orchestrate.ts';
import type { RunContext } from '../queue/context.ts';
import { pauseTask } from '../agents/act/stop-task.ts';
import type { TaskId } from '../kernel/ids.ts';
import type { TaskSummary } from '../tasks/rules/task.ts';
import { runLoop } from '../orchestrator/loop.ts';
import { answer } from './scenario.ts';

export interface DemoOptions {
  /** Acts for the machine, as the orchestrator does. */
  readonly context: RunContext;
  readonly person: Context['by'];
  readonly signal: AbortSignal;
  /** The delay before an answer; null: a person answers, in the dashboard. */
  readonly answerAfterMs: number | null;
  readonly onPass: (pass: Pass) => void;
  readonly onProblem: (task: TaskId | null, reason: string) => void;
}

export class Demo {
  readonly #options: DemoOptions;
  /** The id of each answered task with the time of its question. */
  readonly #answered = new Set<string>();
  #answering: Promise<void> = Promise.resolve();

  constructor(options: DemoOptions) {
    this.#options = options;
  }

  async perform(): Promise<'over' | 'stopped'> {
    const { context, signal, onPass, onProblem } = this.#options;
    const onTaskProblem: ReportProblem = (task, reason) => onProblem(task, reason);
    const orchestrator = new Orchestrator(context, onTaskProblem);
    const end = await runLoop(context, orchestrator, {
      signal,
      isOnce: false,
      untilIdle: true,
      isAwaited: () => this.#isAsked(),
      pollIntervalMs: context.policy.orchestration.pollIntervalMs,
      onPass,
      onProblem: (error) => onProblem(null, error instanceof Error ? error.message : String(error)),
    });
    return end === 'stopped' ? this.#stop() : 'over';
  }

  /** Calls run one after another, so that a question is answered once. */
  answerQuestions(): Promise<void> {
    this.#answering = this.#answering.then(() => this.#answerAll());
    return this.#answering;
  }

  async #isAsked(): Promise<boolean> {
    return (await this.#asking()).some((task) => !this.#answered.has(questionOf(task)));
  }

  #asking(): Promise<readonly TaskSummary[]> {
    return this.#options.context.board.tasks({ statuses: ['stuck'], order: 'urgent' });
  }

  async #answerAll(): Promise<void> {
    const { context, person, signal, answerAfterMs, onProblem } = this.#options;
    if (answerAfterMs === null) return;
    for (const task of await this.#asking()) {
      const { id } = task;
      const question = questionOf(task);
      if (this.#answered.has(question)) continue;
      await context.clock.sleep(answerAfterMs, signal);
      if (signal.aborted) return;
      const restarted = await restartTask({ ...context, by: person }, id, { answer });
      // Not before: until the board knows of the answer, the loop must not end.
      this.#answered.add(question);
      if (restarted.kind === 'refused') onProblem(id, restarted.refusal.reason);
    }
  }

  /** Ends the agents of the demo; their worktrees stay. */
  async #stop(): Promise<'stopped'> {
    const { context, person, onProblem } = this.#options;
    await this.#answering;
    const held = await context.board.held();
    const stopped = await Promise.all(
      held.map(async ({ task }) => {
        await this.#untilKnown(task);
        return pauseTask({ ...context, by: person }, task.id);
      }),
    );
    for (const [index, outcome] of stopped.entries()) {
      if (outcome.kind === 'refused') onProblem(held[index]?.task.id ?? null, outcome.refusal.reason);
    }
    return 'stopped';
  }

  /** A runner can be ended only after it has recorded its process, which takes a moment. */
  async #untilKnown({ state }: TaskSummary): Promise<void> {
    const { board, clock, policy } = this.#options.context;
    if (state.status !== 'in_progress') return;
    const until = clock.elapsedMs() + policy.orchestration.runnerStartMs;
    while (clock.elapsedMs() < until) {
      const attempt = await board.get('attempt', state.claim.attempt);
      if (attempt === undefined || attempt.process !== null || attempt.end !== null) return;
      await clock.sleep(LOOK_EVERY_MS);
    }
  }
}

function questionOf({ id, state }: TaskSummary): string {
  return `${id} ${state.since}`;
}

const LOOK_EVERY_MS = 50;
