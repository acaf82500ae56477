/** One thing of each kind that a sweep finds, as tests of its plan change them. */

import {
  type BranchName,
  type CommitId,
  type SessionId,
  type TaskId,
  type Timestamp,
  brand,
  timestamp,
} from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { type RemovalFacts } from '../../../packages/copse/src/workspaces/rules/removal.ts';
import { planSweep } from '../../../packages/copse/src/workspaces/rules/sweep/plan.ts';
import {
  type FoundBranch,
  type FoundLogs,
  type FoundSession,
  type FoundTrash,
  type FoundWorktree,
  type SweepFacts,
  type SweepItem,
} from '../../../packages/copse/src/workspaces/rules/sweep/things.ts';

export const { maintenance } = defaultPolicy;
export const now = timestamp(1_000_000_000_000);
export const before = (ms: number): Timestamp => timestamp(now - ms);
export const task = brand<TaskId>('cp-0001');
export const OLD = maintenance.finishedWorktreeAgeMs;
export const shell = { pid: 4242, startTime: 7, name: 'bash', at: '/work/cp-0001', isOurs: false };

export const removal: RemovalFacts = {
  task,
  path: '/work/cp-0001',
  isManaged: true,
  inside: [],
  unreadable: [],
  tmux: [],
  lease: { kind: 'none' },
  locks: [],
  operation: null,
  disposition: { is: 'in_use' },
  status: 'cancelled',
  uncommitted: 0,
  unmerged: 0,
  branch: 'merged',
};
export const worktree: FoundWorktree = {
  task,
  path: '/work/cp-0001',
  isThere: true,
  owner: 'cancelled',
  since: before(OLD),
  changedAt: before(OLD),
  isRecovered: false,
  cleanupOnFailure: false,
  isResult: false,
  removal,
  strays: [],
  bytes: 10,
};
export const branch: FoundBranch = {
  task,
  branch: brand<BranchName>('cp-0001/it'),
  tip: brand<CommitId>('a'.repeat(40)),
  owner: 'cancelled',
  since: before(OLD),
  isOwn: true,
  isResult: false,
  holder: null,
  isWanted: false,
  hasWorktree: false,
  state: 'in_target',
};
export const trash: FoundTrash = {
  folder: '/r/.copse/trash/1',
  task,
  at: before(maintenance.trashAgeMs + 1),
  isLeftover: false,
  isEmpty: false,
  isBegun: false,
  repositories: [],
  isOccupied: false,
  bytes: 10,
};
export const logs: FoundLogs = {
  kind: 'logs',
  folder: '/r/.copse/logs/cp-0001',
  task,
  owner: 'done',
  at: before(maintenance.logAgeMs + 1),
  newer: 0,
  isDerived: true,
  neededBy: null,
  bytes: 10,
};
export const session: FoundSession = {
  session: brand<SessionId>('se-1'),
  task,
  owner: 'done',
  endedAt: before(maintenance.sessionAgeMs + 1),
  files: ['/r/.copse/logs/cp-0001/at-1.jsonl'],
  bytes: 10,
};
export const none: SweepFacts = {
  now,
  worktrees: [],
  branches: [],
  trash: [],
  logs: [],
  sessions: [],
  snapshots: [],
  records: [],
};
export const pruning = { ...defaultPolicy, maintenance: { ...maintenance, pruneUnmergedBranches: true } };

export function planOf(
  facts: Partial<SweepFacts>,
  policy = defaultPolicy as typeof pruning,
): readonly SweepItem[] {
  return planSweep({ ...none, ...facts }, policy).items;
}

/** `goes`, with the refs that keep its content, or `stays`. */
export function inShort([item]: readonly SweepItem[]): string {
  if (item === undefined) return 'absent';
  const { verdict } = item;
  return verdict.kind === 'stays' ? 'stays' : ['goes', ...verdict.keptUnder].join(' ');
}

export const RESCUE = 'refs/copse/rescue/cp-0001/';
export const KEEP = 'refs/copse/keep/cp-0001/';
export const hour = {
  status: 'in_progress',
  lease: { kind: 'expired', forMs: maintenance.abandonedWorktreeAgeMs },
} as const;
