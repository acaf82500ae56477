/**
 * What the loop does next with what is running: a pure function of what was seen. Starting new work is schedule.ts.
 *
 * For every task that somebody holds on this node:
 *
 *   its runner lives and renews              nothing
 *   its runner is gone                       a crash: what it left behind is ended first
 *   its runner never told who it is          it is ended, then a crash, once it had time enough to start
 *   its runner lives and renews no longer    it is ended, then a crash
 *
 * For a task held on another node only the lease speaks, and silence must last: an expired lease proves nothing about the
 * old process, so the task goes on with a higher token, which is what shuts the old one out. Work by hand has no process
 * and no renewals; it is never taken away.
 *
 * Time is taken from the board only to show it. Whether a lease is silent is how long *this* observer has seen it unchanged
 * on a clock that does not jump.
 */

import type { AttemptId, FencingToken, NodeId, TaskId, Timestamp } from '../../kernel/ids.ts';
import type { Policy } from '../../kernel/policy.ts';

/** What is known about a runner's process. */
export type RunnerLife = 'alive' | 'gone' | 'never_told';

export interface HeldTask {
  readonly task: TaskId;
  readonly token: FencingToken;
  readonly node: NodeId;
  /** Null for work by hand. */
  readonly attempt: AttemptId | null;
  readonly claimedAt: Timestamp;
  /** Only of this node; elsewhere nobody can look. */
  readonly runner: RunnerLife | 'elsewhere';
  /** How long the lease was seen without a renewal. */
  readonly silentMs: number;
}

export type Recovery = {
  readonly task: TaskId;
  readonly token: FencingToken;
  readonly attempt: AttemptId;
  readonly where: 'here' | 'elsewhere';
  readonly reason: string;
};

export function decideRecoveries(
  held: readonly HeldTask[],
  { lease, orchestration }: Pick<Policy, 'lease' | 'orchestration'>,
): readonly Recovery[] {
  return held.flatMap((one) => {
    if (one.attempt === null) return [];
    const reason = whyDead(one, lease.durationMs, orchestration.runnerStartMs);
    if (reason === undefined) return [];
    const { task, token, attempt } = one;
    return [{ task, token, attempt, where: one.runner === 'elsewhere' ? 'elsewhere' : 'here', reason }];
  });
}

function whyDead({ runner, silentMs, node }: HeldTask, leaseMs: number, startMs: number): string | undefined {
  const isSilent = silentMs >= leaseMs;
  switch (runner) {
    case 'alive':
      return isSilent ? `its runner renewed nothing for ${seconds(silentMs)}` : undefined;
    case 'gone':
      return 'its runner is gone';
    case 'never_told':
      return silentMs >= startMs ? `its runner did not start within ${seconds(startMs)}` : undefined;
    case 'elsewhere':
      return isSilent ? `node ${node} renewed nothing for ${seconds(silentMs)}` : undefined;
    default:
      throw new Error(`There is no life such as ${String(runner satisfies never)}`);
  }
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1_000)} s`;
}
