/**
 * Runs the demo: the orchestrator's loop as it is, and beside it the person whom the demo stands in for, who answers what
 * the agents ask. It is over when nothing is left to do and nothing is left to answer.
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

export interface Performance {
  /** On behalf of the node, as the loop acts. */
  readonly context: RunContext;
  readonly person: Context['by'];
  readonly signal: AbortSignal;
  /** How long the person thinks. */
  readonly answerAfterMs: number;
  readonly onPass: (pass: Pass) => void;
  readonly onProblem: (task: TaskId | null, reason: string) => void;
}

export class Demo {
  readonly #performance: Performance;
  /** Tasks, each with the time of its question. */
  readonly #answered = new Set<string>();
  #answering: Promise<void> = Promise.resolve();

  constructor(performance: Performance) {
    this.#performance = performance;
  }

  async perform(): Promise<'over' | 'stopped'> {
    const { context, signal, onPass, onProblem } = this.#performance;
    const onTaskProblem: ReportProblem = (task, reason) => onProblem(task, reason);
    const orchestrator = new Orchestrator(context, onTaskProblem);
    for (;;) {
      const before = this.#answered.size;
      const end = await runLoop(context, orchestrator, {
        signal,
        isOnce: false,
        untilIdle: true,
        pollIntervalMs: context.policy.orchestration.pollIntervalMs,
        onPass,
        onProblem: (error) => onProblem(null, error instanceof Error ? error.message : String(error)),
      });
      if (end === 'stopped') return this.#stop();
      await this.answerQuestions();
      if (this.#answered.size === before) return 'over';
    }
  }

  /** One after the other, however often it is called: a question is answered once. */
  answerQuestions(): Promise<void> {
    this.#answering = this.#answering.then(() => this.#answerAll());
    return this.#answering;
  }

  async #answerAll(): Promise<void> {
    const { context, person, signal, answerAfterMs, onProblem } = this.#performance;
    const asking = await context.board.tasks({ statuses: ['stuck'], order: 'urgent' });
    for (const { id, state } of asking) {
      const question = `${id} ${state.since}`;
      if (this.#answered.has(question)) continue;
      await context.clock.sleep(answerAfterMs, signal);
      if (signal.aborted) return;
      this.#answered.add(question);
      const restarted = await restartTask({ ...context, by: person }, id, answer);
      if (!restarted.ok) onProblem(id, restarted.refusal.reason);
    }
  }

  /** What the demo started ends with it; the work stays where it is. */
  async #stop(): Promise<'stopped'> {
    const { context, person, onProblem } = this.#performance;
    await this.#answering;
    const held = await context.board.held();
    const stopped = await Promise.all(
      held.map(async ({ task }) => {
        await this.#untilKnown(task);
        return pauseTask({ ...context, by: person }, task.id);
      }),
    );
    for (const [index, outcome] of stopped.entries()) {
      if (!outcome.ok) onProblem(held[index]?.task.id ?? null, outcome.refusal.reason);
    }
    return 'stopped';
  }

  /** A runner that has not said yet who it is cannot be ended by anybody; it says so within moments. */
  async #untilKnown({ state }: TaskSummary): Promise<void> {
    const { board, clock, policy } = this.#performance.context;
    if (state.status !== 'in_progress') return;
    const until = clock.elapsedMs() + policy.orchestration.runnerStartMs;
    while (clock.elapsedMs() < until) {
      const attempt = await board.get('attempt', state.claim.attempt);
      if (attempt === undefined || attempt.process !== null || attempt.end !== null) return;
      await clock.sleep(LOOK_EVERY_MS);
    }
  }
}

const LOOK_EVERY_MS = 50;
