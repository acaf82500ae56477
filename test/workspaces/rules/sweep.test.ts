import { describe, expect, it } from 'vitest';

import { type FencingToken, type TaskId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { type RemovalFacts } from '../../../packages/copse/src/workspaces/rules/removal.ts';
import { planSweep } from '../../../packages/copse/src/workspaces/rules/sweep/plan.ts';
import {
  type FoundBranch,
  type FoundWorktree,
  type SweepFacts,
} from '../../../packages/copse/src/workspaces/rules/sweep/things.ts';
import {
  KEEP,
  OLD,
  RESCUE,
  before,
  branch,
  hour,
  inShort,
  logs,
  maintenance,
  none,
  now,
  planOf,
  pruning,
  removal,
  session,
  shell,
  task,
  trash,
  worktree,
} from '../../support/workspaces/sweep-facts.ts';

describe('a worktree', () => {
  const rows: readonly (readonly [string, Partial<FoundWorktree>, Partial<RemovalFacts>, string])[] = [
    ['of a task that was finished 7 days ago', {}, {}, 'goes'],
    ['of a task that was finished a moment later', { since: before(OLD - 1) }, {}, 'stays'],
    ['whose folder is gone', { isThere: false, since: before(1) }, {}, 'goes'],
    ['with uncommitted files', {}, { uncommitted: 2 }, `goes ${RESCUE}`],
    ['with an unfinished rebase', {}, { operation: 'rebase' }, `goes ${RESCUE}`],
    ['whose files cannot be counted', {}, { uncommitted: null }, 'stays'],
    ['with a process in it', {}, { inside: [shell] }, 'stays'],
    ['whose processes are unknown', {}, { inside: null }, 'stays'],
    [
      'that a person has to look at',
      {},
      { disposition: { is: 'kept', why: 'asked', detail: '', since: now } },
      'stays',
    ],
    ['with an unmerged branch', {}, { branch: 'unmerged', unmerged: 2 }, 'goes'],
    ['of a task that is stuck', { owner: 'stuck' }, { status: 'stuck' }, 'stays'],
    ['of a task in review', { owner: 'in_review' }, { status: 'in_review' }, 'stays'],
    ['of a failed task', { owner: 'failed' }, { status: 'failed' }, 'stays'],
    [
      'of a failed task whose agent cleans up',
      { owner: 'failed', cleanupOnFailure: true, since: now },
      { status: 'failed', uncommitted: 1 },
      `goes ${RESCUE}`,
    ],
    ['without a lease for an hour', { owner: 'in_progress' }, { ...hour, uncommitted: 1 }, `goes ${RESCUE}`],
    [
      'without a lease for an hour, whose runner lives',
      { owner: 'in_progress' },
      { ...hour, hasRunner: true },
      'stays',
    ],
    [
      'without a lease for an hour, on which a person works by hand',
      { owner: 'in_progress' },
      { ...hour, isByHand: true },
      'stays',
    ],
    ['that an orchestrator recovers', { owner: 'in_progress', isRecovered: true }, hour, 'stays'],
    [
      'with a lease',
      { owner: 'in_progress' },
      { status: 'in_progress', lease: { kind: 'live', holder: 'here' } },
      'stays',
    ],
    [
      'that the board does not know, with nothing of its own',
      { owner: 'unknown', since: null },
      { status: null, disposition: null },
      'goes',
    ],
    [
      'that the board does not know, changed lately',
      { owner: 'unknown', since: null, changedAt: before(1) },
      { status: null, disposition: null },
      'stays',
    ],
    [
      'that the board does not know, with a file of its own',
      { owner: 'unknown', since: null },
      { status: null, disposition: null, uncommitted: 1 },
      'stays',
    ],
    [
      'that the board does not know, with a commit of its own',
      { owner: 'deleted', since: null },
      { status: null, disposition: null, unmerged: 1 },
      'stays',
    ],
    ['that Copse did not make', {}, { isManaged: false }, 'stays'],
  ];

  // promise: sweep-only-proven
  it.each(rows)('%s', (_, found, facts, expected) => {
    const worktrees = [{ ...worktree, ...found, removal: { ...removal, ...facts } }];
    expect(inShort(planOf({ worktrees }))).toBe(expected);
  });

  it('keeps the commits of an unmerged branch under a ref, if unmerged branches are pruned', () => {
    const unmerged = { ...worktree, removal: { ...removal, branch: 'unmerged', unmerged: 2 } as const };
    expect(inShort(planOf({ worktrees: [unmerged] }, pruning))).toBe(`goes ${KEEP}`);
    expect(inShort(planOf({ worktrees: [{ ...unmerged, isResult: true }] }, pruning))).toBe('goes');
  });
});

describe('a branch', () => {
  const rows: readonly (readonly [string, Partial<FoundBranch>, string, string])[] = [
    ['that is merged', {}, 'goes', 'goes'],
    ['that landed as other commits', { state: 'landed' }, `goes ${KEEP}`, `goes ${KEEP}`],
    ['under another name', { isOwn: false }, 'stays', 'stays'],
    ['that is not merged', { state: 'unmerged' }, 'stays', `goes ${KEEP}`],
    ['that is not merged, under another name', { state: 'unmerged', isOwn: false }, 'stays', 'stays'],
    ['without a base to compare it with', { state: 'unknown' }, 'stays', 'stays'],
    ['that is the result of its task', { state: 'unmerged', isResult: true }, 'stays', 'stays'],
    ['of a task that was finished lately', { since: before(OLD - 1) }, 'stays', 'stays'],
    ['of a task that is open', { owner: 'ready' }, 'stays', 'stays'],
    ['of a task that the board does not know', { owner: 'unknown', since: null }, 'stays', 'stays'],
    ['of a deleted task', { owner: 'deleted', since: null }, 'stays', 'stays'],
    ['that is checked out', { holder: '/somewhere' }, 'stays', 'stays'],
    ['that another task uses', { isWanted: true }, 'stays', 'stays'],
    ['whose worktree is there', { hasWorktree: true }, 'stays', 'stays'],
  ];

  // promise: sweep-only-proven
  it.each(rows)('%s', (_, found, usually, pruned) => {
    const branches = [{ ...branch, ...found }];
    expect([inShort(planOf({ branches })), inShort(planOf({ branches }, pruning))]).toEqual([
      usually,
      pruned,
    ]);
  });
});

describe('the rest', () => {
  const rows: readonly (readonly [string, Partial<SweepFacts>, string])[] = [
    ['a removed worktree after 7 days', { trash: [trash] }, `goes ${RESCUE}`],
    ['a removed worktree before', { trash: [{ ...trash, at: before(1) }] }, 'stays'],
    ['a removed worktree with a repository in it', { trash: [{ ...trash, repositories: ['lib'] }] }, 'stays'],
    ['a removed worktree with a process in it', { trash: [{ ...trash, isOccupied: true }] }, 'stays'],
    ['a checkout that was never finished', { trash: [{ ...trash, at: now, isLeftover: true }] }, 'goes'],
    ['logs after 30 days', { logs: [logs] }, 'goes'],
    ['logs before', { logs: [{ ...logs, at: before(1) }] }, 'stays'],
    [
      'logs beyond the number that is kept',
      { logs: [{ ...logs, at: before(1), newer: maintenance.logsKept }] },
      'goes',
    ],
    ['logs of an open task', { logs: [{ ...logs, owner: 'stuck' }] }, 'stays'],
    ['logs of a task that the board never had', { logs: [{ ...logs, owner: 'unknown' }] }, 'stays'],
    [
      'patches that an import needs',
      { logs: [{ ...logs, kind: 'artifacts', neededBy: brand<TaskId>('cp-0002') }] },
      'stays',
    ],
    [
      'results of a deleted task that an import needs',
      { logs: [{ ...logs, kind: 'artifacts', owner: 'deleted', neededBy: brand<TaskId>('cp-0002') }] },
      'stays',
    ],
    ['results of a finished task', { logs: [{ ...logs, kind: 'artifacts', isDerived: false }] }, 'stays'],
    [
      'results of a deleted task',
      { logs: [{ ...logs, kind: 'artifacts', isDerived: false, owner: 'deleted' }] },
      'goes',
    ],
    ['a session that ended 7 days ago', { sessions: [session] }, 'goes'],
    ['a session of an open task', { sessions: [{ ...session, owner: 'paused' }] }, 'stays'],
    ['a session that has not ended', { sessions: [{ ...session, endedAt: null }] }, 'stays'],
    ['a snapshot of a landed task', { snapshots: [snapshot('landed')] }, 'goes'],
    ['a snapshot of a cancelled task', { snapshots: [snapshot('ended')] }, `goes ${RESCUE}`],
    ['a snapshot of an open task', { snapshots: [snapshot(null)] }, 'stays'],
    ['a record of a worktree that Copse did not make', { records: [{ name: 'x', path: '/x' }] }, 'stays'],
  ];

  // promise: sweep-only-proven
  it.each(rows)('%s', (_, facts, expected) => {
    expect(inShort(planOf(facts))).toBe(expected);
  });

  it('stays where copse.yml switches its cleanup off', () => {
    const { items } = planSweep(
      { ...none, worktrees: [worktree], logs: [logs] },
      pruning,
      new Set(['worktree']),
    );
    expect(items.map(({ verdict }) => verdict.kind)).toEqual(['stays', 'goes']);
  });
});

function snapshot(end: 'landed' | 'ended' | null) {
  return { ref: 'refs/copse/work/cp-0001/1', task, token: 1 as FencingToken, end };
}

it('what cannot be read in the trash stays, and says why', () => {
  const [item] = planOf({ trash: [{ ...trash, problem: 'EACCES: permission denied' }] });
  expect(item?.verdict).toMatchObject({ kind: 'stays', why: expect.stringContaining('permission denied') });
});
