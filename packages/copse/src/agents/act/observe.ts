/**
 * The running tasks, as an orchestrator sees them. From pass to pass it only remembers since when each lease is unchanged, on
 * the monotonic clock. A restart forgets that, and a stale lease is then noticed later.
 */

import type { Attempt } from '../../tasks/rules/attempt.ts';
import type { AttemptId, FencingToken, TaskId, Timestamp } from '../../kernel/ids.ts';
import { type LookTime, Unchanged } from '../../machines/rules/unchanged.ts';
import type { HeldTask, RunnerLife } from '../../orchestrator/rules/reconcile.ts';
import type { TaskSummary } from '../../tasks/rules/task.ts';
import type { LookContext } from '../../queue/context.ts';

export interface RunningTask {
  readonly task: TaskSummary;
  readonly attempt: Attempt | undefined;
  readonly held: HeldTask;
  readonly renewedAt: Timestamp;
}

/** How long each lease has not been renewed. */
export class LeaseAges {
  readonly #unchanged = new Unchanged<TaskId>();

  /** Milliseconds since the lease last changed. */
  of(task: TaskId, token: FencingToken, renewedAt: Timestamp, look: LookTime): number {
    return this.#unchanged.see(task, `${token} ${renewedAt}`, look);
  }

  forgetAllBut(tasks: ReadonlySet<TaskId>): void {
    this.#unchanged.forgetAllBut(tasks);
  }
}

type ObserveContext = Pick<LookContext, 'board' | 'clock' | 'node' | 'occupancy' | 'policy' | 'runners'>;

export async function observeRunning(
  context: ObserveContext,
  leaseAges: LeaseAges,
): Promise<readonly RunningTask[]> {
  const { board, clock, node, policy } = context;
  const all = await board.held();
  const longestMs = Math.max(policy.lease.renewEveryMs, policy.orchestration.pollIntervalMs);
  leaseAges.forgetAllBut(new Set(all.map(({ task }) => task.id)));
  const running: RunningTask[] = [];
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
      silentMs: leaseAges.of(task.id, lease.token, lease.renewedAt, { nowMs: clock.elapsedMs(), longestMs }),
    };
    running.push({ task, attempt, held, renewedAt: lease.renewedAt });
  }
  return running;
}

/** A runner without a recorded process may be about to record it; the starter's file says whether it still lives. */
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
