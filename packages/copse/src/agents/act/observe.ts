/**
 * What the loop sees of running work. The one thing it remembers from look to look is how long each lease has not changed,
 * on a clock that nobody sets; forgetting it (a restart) only makes it more patient.
 */

import type { Attempt } from '../../tasks/rules/attempt.ts';
import type { AttemptId, FencingToken, TaskId, Timestamp } from '../../kernel/ids.ts';
import type { HeldTask, RunnerLife } from '../../orchestrator/rules/reconcile.ts';
import type { TaskSummary } from '../../tasks/rules/task.ts';
import type { LookContext } from '../../queue/context.ts';

export interface Running {
  readonly task: TaskSummary;
  readonly attempt: Attempt | undefined;
  readonly held: HeldTask;
}

export class Silences {
  readonly #seen = new Map<TaskId, { token: FencingToken; renewedAt: Timestamp; sinceMs: number }>();

  /** How long the lease has been as it is now. */
  of(task: TaskId, token: FencingToken, renewedAt: Timestamp, nowMs: number): number {
    const before = this.#seen.get(task);
    if (before?.token === token && before.renewedAt === renewedAt) return nowMs - before.sinceMs;
    this.#seen.set(task, { token, renewedAt, sinceMs: nowMs });
    return 0;
  }

  forgetAllBut(tasks: ReadonlySet<TaskId>): void {
    for (const task of this.#seen.keys()) if (!tasks.has(task)) this.#seen.delete(task);
  }
}

type ObserveContext = Pick<LookContext, 'board' | 'clock' | 'node' | 'occupancy' | 'runners'>;

export async function observeRunning(
  context: ObserveContext,
  silences: Silences,
): Promise<readonly Running[]> {
  const { board, clock, node } = context;
  const all = await board.held();
  silences.forgetAllBut(new Set(all.map(({ task }) => task.id)));
  const running: Running[] = [];
  for (const { task, lease } of all) {
    if (task.state.status !== 'in_progress') continue;
    const { claim, since } = task.state;
    const attempt = await board.get('attempt', claim.attempt);
    const held: HeldTask = {
      task: task.id,
      token: claim.token,
      node: claim.node,
      attempt: claim.isByHand ? null : claim.attempt,
      claimedAt: since,
      runner: claim.node === node ? await lifeOf(context, claim.attempt, attempt) : 'elsewhere',
      silentMs: silences.of(task.id, lease.token, lease.renewedAt, clock.elapsedMs()),
    };
    running.push({ task, attempt, held });
  }
  return running;
}

/** One that has not told who it is may be about to; only whoever started it knows whether it still can. */
async function lifeOf(
  { occupancy, runners }: ObserveContext,
  id: AttemptId,
  attempt: Attempt | undefined,
): Promise<RunnerLife> {
  const told = attempt?.process ?? null;
  const runner = told ?? (await runners.runnerOf(id));
  if (runner === undefined) return 'never_told';
  if (!(await occupancy.isAlive(runner))) return 'gone';
  return told === null ? 'never_told' : 'alive';
}
