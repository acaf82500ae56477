/**
 * Which running attempts have crashed. For every task that an agent holds on this node:
 *
 *   its runner is alive and renews the lease   nothing
 *   its runner is gone                         a crash; its leftover processes are ended first
 *   its runner never registered                a crash once it had time to start; it is ended first
 *   its runner is alive, the lease is stale    a crash; the runner is ended first
 *
 * Of a task held on another machine only the lease is known. An expired lease proves nothing about the old process, so the
 * task goes on with a higher token, which fences the old process off. Work by hand has no process and is never taken away.
 *
 * A lease is stale when *this* process has seen it unchanged for long enough, on a clock that does not jump. Timestamps of
 * the board are only shown.
 */

import type { AttemptId, FencingToken, NodeId, TaskId, Timestamp } from '../../kernel/ids.ts';
import type { Policy } from '../../kernel/policy.ts';
import { unreachable } from '../../kernel/unreachable.ts';

/** `never_told`: the runner has not registered its process on the board. */
export type RunnerLife = 'alive' | 'gone' | 'never_told';

export interface HeldTask {
  readonly task: TaskId;
  readonly token: FencingToken;
  readonly node: NodeId;
  /** Null for work by hand. */
  readonly attempt: AttemptId | null;
  readonly claimedAt: Timestamp;
  /** Known only of runners of this machine. */
  readonly runner: RunnerLife | 'elsewhere';
  /** How long this process has seen the lease unchanged. */
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
  const isStale = silentMs >= leaseMs;
  switch (runner) {
    case 'alive':
      return isStale ? `its runner has not renewed its lease for ${seconds(silentMs)}` : undefined;
    case 'gone':
      return 'its runner is gone';
    case 'never_told':
      return silentMs >= startMs ? `its runner did not start within ${seconds(startMs)}` : undefined;
    case 'elsewhere':
      return isStale ? `machine ${node} has not been heard from for ${seconds(silentMs)}` : undefined;
    default:
      return unreachable(runner);
  }
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1_000)} s`;
}
