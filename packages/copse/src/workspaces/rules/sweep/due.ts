/** When an orchestrator sweeps, and what. */

import type { Timestamp } from '../../../kernel/ids.ts';
import type { Policy } from '../../../kernel/policy.ts';
import { type SweptKind, sweptKinds } from './things.ts';

/** When an orchestrator of this machine swept last. */
export interface LastSweeps {
  readonly all: Timestamp;
  readonly sessions: Timestamp;
}

export interface DueSweep {
  readonly kinds: ReadonlySet<SweptKind>;
  /** Looked at, because they count for the disk budget, and left alone. */
  readonly off: ReadonlySet<SweptKind>;
}

interface SweepMoment {
  readonly isStart: boolean;
  readonly last: LastSweeps | null;
  readonly now: Timestamp;
  /** Of tasks, finished or not, with logs or results. */
  readonly logFolders: number;
}

/** Null when nothing is due. Without a memory of the last sweep, the interval begins now. */
export function decideDueSweep(
  { isStart, last, now, logFolders }: SweepMoment,
  maintenance: Policy['maintenance'],
): DueSweep | null {
  const { cleanupOnStartup, sweepEveryMs, sessionCleanupEveryMs, sessionCleanup } = maintenance;
  const { logsKept, logsBeyond, logSweepEveryMs } = maintenance;
  const isDue = (at: Timestamp, everyMs: number) => now - at >= everyMs || at > now;
  if ((isStart && cleanupOnStartup) || (last !== null && isDue(last.all, sweepEveryMs)))
    return { kinds: new Set(sweptKinds), off: new Set(switchedOff(maintenance)) };
  if (sessionCleanup && last !== null && isDue(last.sessions, sessionCleanupEveryMs))
    return { kinds: new Set(['session']), off: new Set() };
  if (logFolders > logsKept + logsBeyond && last !== null && isDue(last.sessions, logSweepEveryMs))
    return {
      kinds: new Set(['logs', 'artifacts', ...(sessionCleanup ? ['session' as const] : [])]),
      off: new Set(),
    };
  return null;
}

function switchedOff({ worktreeCleanup, sessionCleanup }: Policy['maintenance']): readonly SweptKind[] {
  return [
    ...(worktreeCleanup ? [] : (['worktree', 'branch', 'record'] as const)),
    ...(sessionCleanup ? [] : (['session'] as const)),
  ];
}
