import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  type BranchName,
  type CommitId,
  type FencingToken,
  type SessionId,
  type TaskId,
  type Timestamp,
  brand,
  timestamp,
} from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { taskStatuses } from '../../../packages/copse/src/tasks/rules/task.ts';
import { type RemovalFacts, decideRemoval } from '../../../packages/copse/src/workspaces/rules/removal.ts';
import {
  type TrashClock,
  trustClock,
} from '../../../packages/copse/src/workspaces/rules/sweep/trash-clock.ts';
import { decideDueSweep } from '../../../packages/copse/src/workspaces/rules/sweep/due.ts';
import { planSweep, sweepRequest } from '../../../packages/copse/src/workspaces/rules/sweep/plan.ts';
import {
  type FoundBranch,
  type FoundLogs,
  type FoundSession,
  type FoundTrash,
  type FoundWorktree,
  type OwnerStatus,
  type SweepFacts,
  type SweepItem,
  sweptKinds,
} from '../../../packages/copse/src/workspaces/rules/sweep/things.ts';

const { maintenance } = defaultPolicy;
const now = timestamp(1_000_000_000_000);
const before = (ms: number): Timestamp => timestamp(now - ms);
const task = brand<TaskId>('cp-0001');
const OLD = maintenance.finishedWorktreeAgeMs;
const shell = { pid: 4242, startTime: 7, name: 'bash', at: '/work/cp-0001', isOurs: false };

const removal: RemovalFacts = {
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
const worktree: FoundWorktree = {
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
const branch: FoundBranch = {
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
const trash: FoundTrash = {
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
const logs: FoundLogs = {
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
const session: FoundSession = {
  session: brand<SessionId>('se-1'),
  task,
  owner: 'done',
  endedAt: before(maintenance.sessionAgeMs + 1),
  files: ['/r/.copse/logs/cp-0001/at-1.jsonl'],
  bytes: 10,
};
const none: SweepFacts = {
  now,
  worktrees: [],
  branches: [],
  trash: [],
  logs: [],
  sessions: [],
  snapshots: [],
  records: [],
};
const pruning = { ...defaultPolicy, maintenance: { ...maintenance, pruneUnmergedBranches: true } };

function planOf(facts: Partial<SweepFacts>, policy = defaultPolicy as typeof pruning): readonly SweepItem[] {
  return planSweep({ ...none, ...facts }, policy).items;
}

/** `goes`, with the refs that keep its content, or `stays`. */
function inShort([item]: readonly SweepItem[]): string {
  if (item === undefined) return 'absent';
  const { verdict } = item;
  return verdict.kind === 'stays' ? 'stays' : ['goes', ...verdict.keptUnder].join(' ');
}

const RESCUE = 'refs/copse/rescue/cp-0001/';
const KEEP = 'refs/copse/keep/cp-0001/';
const hour = {
  status: 'in_progress',
  lease: { kind: 'expired', forMs: maintenance.abandonedWorktreeAgeMs },
} as const;

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

describe('the disk budget', () => {
  const withBudget = (maxDiskBytes: number) => ({
    ...pruning,
    maintenance: { ...maintenance, maxDiskBytes },
  });
  const owners = fc.constantFrom<OwnerStatus>(...taskStatuses, 'deleted', 'unknown');
  const moment = fc.integer({ min: 0, max: 60 * 86_400_000 }).map(before);
  const bytes = fc.option(fc.integer({ min: 0, max: 1_000 }));
  const facts = fc.record({
    inside: fc.constantFrom([], [], [shell], null),
    uncommitted: fc.constantFrom(0, 0, 3, null),
    unmerged: fc.constantFrom(0, 2, null),
    branch: fc.constantFrom<RemovalFacts['branch']>('merged', 'unmerged', 'gone'),
    isManaged: fc.boolean(),
    hasRunner: fc.boolean(),
    isByHand: fc.boolean(),
    lease: fc.constantFrom<RemovalFacts['lease']>(
      { kind: 'none' },
      { kind: 'live', holder: 'here' },
      { kind: 'expired', forMs: maintenance.abandonedWorktreeAgeMs },
    ),
    disposition: fc.constantFrom<RemovalFacts['disposition']>(
      { is: 'in_use' },
      { is: 'kept', why: 'asked', detail: '', since: now },
      null,
    ),
  });
  const asTrash = (one: Partial<FoundTrash>): FoundTrash => ({ ...trash, ...one });
  const asLogs = (one: Partial<FoundLogs>): FoundLogs => ({ ...logs, ...one });
  const asSession = (one: Partial<FoundSession>): FoundSession => ({ ...session, ...one });
  const asFacts = (found: Partial<SweepFacts>): SweepFacts => ({ ...none, ...found });
  const asWorktree = (
    found: Pick<FoundWorktree, 'owner'> & Partial<FoundWorktree>,
    seen: Partial<RemovalFacts>,
  ): FoundWorktree => {
    const status = found.owner === 'deleted' || found.owner === 'unknown' ? null : found.owner;
    return { ...worktree, ...found, removal: { ...removal, ...seen, status } };
  };
  const worktrees = fc.array(
    fc
      .record({
        owner: owners,
        since: fc.option(moment),
        changedAt: fc.option(moment),
        isThere: fc.boolean(),
        isRecovered: fc.boolean(),
        cleanupOnFailure: fc.boolean(),
        isResult: fc.boolean(),
        bytes,
      })
      .chain((found) => facts.map((seen) => asWorktree(found, seen))),
    { maxLength: 8 },
  );
  const trashes = fc.array(
    fc
      .record({
        at: moment,
        isLeftover: fc.boolean(),
        isEmpty: fc.boolean(),
        isBegun: fc.boolean(),
        repositories: fc.constantFrom<readonly string[]>([], ['lib']),
        isOccupied: fc.constantFrom(false, true, null),
        bytes,
      })
      .map(asTrash),
    { maxLength: 6 },
  );
  const logFolders = fc.array(
    fc
      .record({
        kind: fc.constantFrom<FoundLogs['kind']>('logs', 'artifacts'),
        owner: owners,
        at: moment,
        newer: fc.integer({ min: 0, max: 1_000 }),
        isDerived: fc.boolean(),
        bytes,
      })
      .map(asLogs),
    { maxLength: 6 },
  );
  const sessions = fc.array(fc.record({ owner: owners, endedAt: fc.option(moment), bytes }).map(asSession), {
    maxLength: 4,
  });
  const states = fc.record({ worktrees, trash: trashes, logs: logFolders, sessions }).map(asFacts);

  /** Written without the plan: what has to be true of anything that goes. */
  function expectSafe({ found }: SweepItem): void {
    const isOver = (owner: OwnerStatus) => ['done', 'cancelled', 'deleted'].includes(owner);
    switch (found.kind) {
      case 'worktree': {
        const facts = found.is.removal ?? expect.fail('The gate was not asked');
        const gate = decideRemoval(facts, sweepRequest(found.is, pruning), pruning);
        expect(['allowed', 'end_first']).toContain(gate.kind);
        expect(facts.inside).not.toContainEqual(shell);
        expect(facts.inside).not.toBeNull();
        expect(facts.isManaged).toBe(true);
        expect(facts.disposition?.is).not.toBe('kept');
        expect(facts.uncommitted).not.toBeNull();
        expectOver(found.is, facts);
        return;
      }
      case 'trash':
        expect(found.is.repositories).toEqual([]);
        expect(found.is.isOccupied).toBe(false);
        // Content that only the trash has stays for its 7 days.
        if (!found.is.isEmpty && !found.is.isLeftover)
          expect(now - found.is.at).toBeGreaterThan(maintenance.trashAgeMs);
        return;
      case 'logs':
      case 'artifacts':
        expect(isOver(found.is.owner)).toBe(true);
        expect(found.is.isDerived || found.is.owner === 'deleted').toBe(true);
        return;
      case 'session':
        expect(isOver(found.is.owner)).toBe(true);
        expect(found.is.endedAt).not.toBeNull();
        return;
      case 'branch':
      case 'snapshot':
      case 'record':
        expect.fail(`${found.kind} takes no disk space`);
    }
  }

  function expectOver({ owner, cleanupOnFailure, isRecovered }: FoundWorktree, facts: RemovalFacts): void {
    const { lease, hasRunner, isByHand, uncommitted, unmerged } = facts;
    if (owner === 'in_progress')
      expect([lease.kind, hasRunner, isByHand, isRecovered]).toEqual(['expired', false, false, false]);
    else if (owner === 'failed') expect([cleanupOnFailure, hasRunner]).toEqual([true, false]);
    else if (owner === 'unknown' || owner === 'deleted') expect([uncommitted, unmerged]).toEqual([0, 0]);
    else expect(['done', 'cancelled']).toContain(owner);
  }

  // promise: disk-budget-safe
  it('never removes what is not safe, in any state and however little it allows', () => {
    fc.assert(
      fc.property(states, fc.integer({ min: 0, max: 6_000 }), (facts, max) => {
        for (const item of planSweep(facts, withBudget(max)).items)
          if (item.verdict.kind === 'goes') expectSafe(item);
      }),
      { numRuns: 500 },
    );
  });

  it('takes the oldest first, only as many as it has to, and nothing of the last hour', () => {
    const ages = fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(ages, fc.integer({ min: 0, max: 12 }), (found, max) => {
        // One byte each, so many quarters of an hour old.
        const aged = found.map((quarters) => asLogs({ at: before(quarters * 900_000), bytes: 1 }));
        const { items } = planSweep({ ...none, logs: aged }, withBudget(max));
        const taken = found.filter((_, at) => items[at]?.verdict.kind === 'goes');
        const oldest = found.toSorted((one, other) => other - one).filter((quarters) => quarters >= 4);
        const needed = Math.max(0, found.length - max);
        expect(taken.toSorted((one, other) => other - one)).toEqual(oldest.slice(0, needed));
      }),
      { numRuns: 300 },
    );
  });

  it('takes nothing while everything fits, and says how much is used', () => {
    const facts = { ...none, logs: [{ ...logs, at: before(7_200_000) }] };
    expect(planSweep(facts, withBudget(10)).budget).toEqual({
      maxBytes: 10,
      usedBytes: 10,
      leftBytes: 10,
      trashedBytes: 0,
    });
    expect(planSweep(facts, withBudget(10)).items[0]?.verdict.kind).toBe('stays');
    expect(planSweep(facts, withBudget(9)).items[0]?.verdict).toMatchObject({
      kind: 'goes',
      why: expect.stringContaining('max_disk'),
    });
  });
});

describe('a worktree that moves to the trash', () => {
  const budgeted = (maxDiskBytes: number) => ({
    ...pruning,
    maintenance: { ...maintenance, maxDiskBytes },
  });
  const youngLogs: FoundLogs = { ...logs, at: before(7_200_000) };

  it('frees nothing yet, so the disk budget takes what does', () => {
    const facts = { ...none, worktrees: [worktree], logs: [youngLogs] };
    const { items, budget } = planSweep(facts, budgeted(10));
    expect(items.map(({ verdict }) => verdict.kind)).toEqual(['goes', 'goes']);
    expect(budget).toEqual({ maxBytes: 10, usedBytes: 20, leftBytes: 10, trashedBytes: 10 });
  });

  it('is taken before its time only if nothing else is enough', () => {
    const young = { ...worktree, since: before(7_200_000) };
    const facts = { ...none, worktrees: [young], logs: [youngLogs] };
    const kinds = (max: number) => planSweep(facts, budgeted(max)).items.map(({ verdict }) => verdict.kind);
    expect(kinds(10)).toEqual(['stays', 'goes']);
    expect(kinds(9)).toEqual(['goes', 'goes']);
  });
});

it('what cannot be read in the trash stays, and says why', () => {
  const [item] = planOf({ trash: [{ ...trash, problem: 'EACCES: permission denied' }] });
  expect(item?.verdict).toMatchObject({ kind: 'stays', why: expect.stringContaining('permission denied') });
});

describe('the clock of the trash', () => {
  const hours = (count: number) => timestamp(now + count * 3_600_000);
  const looks = (...times: readonly number[]) => {
    let memory: TrashClock | undefined;
    return times.map((hour) => {
      const look = trustClock(memory, hours(hour), maintenance);
      memory = look.memory;
      return (look.trusted - now) / 3_600_000;
    });
  };

  it('follows the machine, also when it is set back', () => {
    expect(looks(0, 6, 12, 11, 35)).toEqual([0, 6, 12, 11, 35]);
  });

  it('does not follow a jump of days before it has held for hours', () => {
    expect(looks(0, 9_000, 9_001, 9_005.9, 9_006)).toEqual([0, 0, 0, 0, 9_006]);
  });

  it('does not take a small step back during a jump for its end', () => {
    expect(looks(0, 9_000, 8_999.9, 9_000)).toEqual([0, 0, 0, 0]);
  });

  it('forgets a jump that was taken back', () => {
    expect(looks(0, 9_000, 1, 2)).toEqual([0, 0, 1, 2]);
    expect(looks(0, 9_000, 90_000, 90_005, 90_006)).toEqual([0, 0, 0, 0, 90_006]);
  });
});

describe('a sweep of an orchestrator', () => {
  const due = (
    isStart: boolean,
    last: { all: number; sessions: number } | null,
    set: object = {},
    logFolders = 0,
  ) => {
    const moments = last && { all: timestamp(last.all), sessions: timestamp(last.sessions) };
    const found = decideDueSweep({ isStart, last: moments, now, logFolders }, { ...maintenance, ...set });
    const kinds = found && [...found.kinds].join(' ');
    return found && [kinds === sweptKinds.join(' ') ? 'all' : kinds, [...found.off].join(' ')];
  };
  const { sweepEveryMs, sessionCleanupEveryMs } = maintenance;
  const lately = { all: now - 1, sessions: now - 1 };

  // setting: maintenance.worktree_cleanup.interval, maintenance.session_cleanup.interval
  it('happens at the start, every interval, and after the clock was set back', () => {
    expect(due(true, lately)).toEqual(['all', '']);
    expect(due(true, lately, { cleanupOnStartup: false })).toBeNull();
    expect(due(true, null, { cleanupOnStartup: false })).toBeNull();
    expect(due(false, { ...lately, all: now - sweepEveryMs })).toEqual(['all', '']);
    expect(due(false, { ...lately, all: now - sweepEveryMs + 1 })).toBeNull();
    expect(due(false, { ...lately, all: now + 1 })).toEqual(['all', '']);
    expect(due(false, { ...lately, sessions: now - sessionCleanupEveryMs })).toEqual(['session', '']);
  });

  it('removes logs beyond the kept ones between two sweeps, but not in every round', () => {
    const { logsKept, logSweepEveryMs } = maintenance;
    const before = { ...lately, sessions: now - logSweepEveryMs };
    expect(due(false, before, {}, logsKept * 1.2)).toEqual(['logs artifacts session', '']);
    expect(due(false, before, {}, logsKept)).toBeNull();
    expect(due(false, lately, {}, logsKept * 1.2)).toBeNull();
  });

  // setting: maintenance.session_cleanup.enabled
  it('leaves out what is switched off', () => {
    const off = { worktreeCleanup: false, sessionCleanup: false };
    expect(due(true, lately, off)).toEqual(['all', 'worktree branch record session']);
    expect(due(false, { ...lately, sessions: 0 }, off)).toBeNull();
  });
});
