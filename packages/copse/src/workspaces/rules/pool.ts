/** How many worktrees to keep ready. Each uses the disk space of a checkout and saves a task the time of one. */

import type { Policy } from '../../kernel/policy.ts';

export interface PoolFacts {
  /** Of the base. */
  readonly trackedFiles: number;
  readonly trackedBytes: number;
  readonly freeDiskBytes: number;
  /** Worktrees made new for tasks in the last hour. */
  readonly allocationsLastHour: number;
  readonly maxAgents: number;
  /** Entries that exist: their bytes are no longer free. */
  readonly ready: number;
}

export type PoolSetting = 'auto' | number;

export interface PoolSize {
  readonly size: number;
  readonly reason: string;
}

export function decidePoolSize(
  facts: PoolFacts,
  setting: PoolSetting,
  policy: Pick<Policy, 'pool' | 'orchestration'>,
): PoolSize {
  const wanted = setting === 'auto' ? sizeByUse(facts, policy) : asked(setting);
  const affordable = affordableEntries(facts, policy);
  if (wanted.size <= affordable) return wanted;
  return { size: affordable, reason: `${wanted.reason}, but the disk has room for ${affordable}` };
}

function asked(size: number): PoolSize {
  return { size, reason: size === 0 ? 'workspace.pool is 0' : `workspace.pool asks for ${size}` };
}

function sizeByUse(facts: PoolFacts, { pool }: Pick<Policy, 'pool'>): PoolSize {
  const { trackedFiles, allocationsLastHour, maxAgents } = facts;
  if (trackedFiles < pool.minTrackedFiles) {
    return { size: 0, reason: `a repository of ${trackedFiles} files needs none` };
  }
  if (allocationsLastHour === 0) return { size: 0, reason: 'no worktree was needed in the last hour' };
  const perRefill = Math.ceil(allocationsLastHour * (pool.coverMs / HOUR_MS));
  const size = Math.min(perRefill, maxAgents, pool.maxAutoSize);
  return { size, reason: `${allocationsLastHour} worktrees were needed in the last hour` };
}

const HOUR_MS = 3_600_000;

/** Keeps the disk space that sessions need, and uses only a share of the rest. Existing entries cost nothing more. */
function affordableEntries(
  { freeDiskBytes, trackedBytes, trackedFiles, ready }: PoolFacts,
  { pool, orchestration }: Pick<Policy, 'pool' | 'orchestration'>,
): number {
  const entryBytes = Math.max(1, trackedBytes + trackedFiles * pool.fileOverheadBytes);
  const spare = freeDiskBytes - orchestration.minFreeDiskBytes;
  if (spare < 0) return Math.max(0, ready - Math.ceil(-spare / entryBytes));
  const total = spare + ready * entryBytes;
  return Math.floor((total * pool.maxDiskShare) / entryBytes);
}
