import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import type {
  BranchName,
  CommitId,
  NodeId,
  TaskId,
  WorkspaceId,
} from '../../../packages/copse/src/kernel/ids.ts';
import {
  type Disposition,
  type Workspace,
  type WorkspaceAction,
  type WorkspaceEvent,
  type WorkspaceRequest,
  type WorkspaceStatus,
  decideWorkspace,
  evolveWorkspace,
  keepReasons,
  workspaceStatus,
  workspaceTransitions,
} from '../../../packages/copse/src/workspaces/rules/workspace.ts';

const at = timestamp(1_000);
const later = timestamp(2_000);

const prepared: WorkspaceEvent & { type: 'workspace.prepared' } = {
  type: 'workspace.prepared',
  id: brand<WorkspaceId>('ws-1'),
  at,
  task: brand<TaskId>('cp-0001'),
  node: brand<NodeId>('no-1'),
  strategy: 'git_worktree',
  worktree: {
    path: '.worktrees/cp-0001',
    branch: brand<BranchName>('cp-0001/add-login'),
    baseBranch: brand<BranchName>('main'),
    baseCommit: brand<CommitId>('1f'.repeat(20)),
  },
};

const requests: Readonly<Record<WorkspaceAction, WorkspaceRequest>> = {
  keep: { action: 'keep', why: 'conflict', detail: 'src/a.ts' },
  use: { action: 'use' },
  release: { action: 'release', rescue: 'refs/copse/rescue/cp-0001/1' },
};

type Is = Disposition['is'];

/** Where each action leads from each disposition; null where it is refused. */
const cells: Readonly<Record<WorkspaceAction, Readonly<Record<Is, Is | null>>>> = {
  keep: { in_use: 'kept', kept: 'kept', released: null },
  use: { in_use: 'in_use', kept: 'in_use', released: null },
  release: { in_use: 'released', kept: 'released', released: null },
};

const actions = Object.keys(cells) as readonly WorkspaceAction[];
const dispositions = ['in_use', 'kept', 'released'] as const;

function workspaceIn(is: Is): Workspace {
  const fresh = evolveWorkspace(undefined, prepared);
  if (is === 'in_use') return fresh;
  return take(fresh, is === 'kept' ? requests.keep : requests.release);
}

function take(workspace: Workspace, request: WorkspaceRequest): Workspace {
  const decision = decideWorkspace(workspace, request, later);
  if (decision.kind === 'refused') throw new Error(decision.refusal.reason);
  return decision.events.reduce<Workspace>(evolveWorkspace, workspace);
}

describe('the status of a workspace', () => {
  /** Facts as letters: a live Lease, uncommitted Changes, Own commits, Merged. */
  const inUse: Readonly<Record<string, WorkspaceStatus>> = {
    '----': 'active',
    '---M': 'merged',
    '--O-': 'committed',
    '--OM': 'merged',
    '-C--': 'active',
    '-C-M': 'active',
    '-CO-': 'active',
    '-COM': 'active',
    'L---': 'active',
    'L--M': 'active',
    'L-O-': 'active',
    'L-OM': 'active',
    'LC--': 'active',
    'LC-M': 'active',
    'LCO-': 'active',
    LCOM: 'active',
  };

  const factsOf = (letters: string) => ({
    leaseIsLive: letters.includes('L'),
    hasUncommittedChanges: letters.includes('C'),
    hasCommitsOfItsOwn: letters.includes('O'),
    isMerged: letters.includes('M'),
  });

  it.each(Object.entries(inUse))('with %s is %s while it is in use', (letters, status) => {
    expect(workspaceStatus(workspaceIn('in_use').disposition, factsOf(letters))).toBe(status);
  });

  it.each(Object.keys(inUse))('with %s is the stored one once it is kept or released', (letters) => {
    expect(workspaceStatus(workspaceIn('kept').disposition, factsOf(letters))).toBe('kept');
    expect(workspaceStatus(workspaceIn('released').disposition, factsOf(letters))).toBe('released');
  });

  it('is derived from every combination of facts', () => {
    expect(Object.keys(inUse)).toHaveLength(2 ** 4);
  });
});

describe('the workspace table', () => {
  const all = actions.flatMap((action) =>
    dispositions.map((is) => ({ action, is, to: cells[action][is], leads: cells[action][is] ?? 'nowhere' })),
  );

  it.each(all)('$action of one that is $is leads $leads', ({ action, is, to }) => {
    const workspace = workspaceIn(is);
    expect(workspace.disposition.is).toBe(is);
    const row: Partial<Record<Is, readonly Is[]>> = workspaceTransitions[action];
    expect(row[is]).toEqual(to === null ? undefined : [to]);
    const decision = decideWorkspace(workspace, requests[action], later);
    expect(decision.kind === 'decided' ? take(workspace, requests[action]).disposition.is : null).toBe(to);
  });

  it.each(actions)('refuses to %s one that is released, saying why', (action) => {
    expect(decideWorkspace(workspaceIn('released'), requests[action], later)).toEqual({
      kind: 'refused',
      refusal: {
        code: 'wrong_status',
        reason: `The workspace of cp-0001 is released: there is nothing left to ${action}.`,
        next: ['copse work cp-0001'],
      },
    });
  });

  it('has no action besides these', () => {
    expect(Object.keys(workspaceTransitions)).toEqual(actions);
  });
});

describe('a workspace', () => {
  it('is in use from the moment it is prepared', () => {
    const { type: _, at: preparedAt, ...given } = prepared;
    expect(workspaceIn('in_use')).toEqual({ ...given, preparedAt, disposition: { is: 'in_use' } });
  });

  it('has no worktree when its task is without code', () => {
    const workspace = evolveWorkspace(undefined, { ...prepared, strategy: 'none', worktree: null });
    expect(workspace).toMatchObject({ strategy: 'none', worktree: null });
  });

  it.each(keepReasons)('that is kept for %s has the reason, the detail and the time', (why) => {
    const kept = take(workspaceIn('in_use'), { action: 'keep', why, detail: 'look at it' });
    expect(kept.disposition).toEqual({ is: 'kept', why, detail: 'look at it', since: later });
  });

  it('that is kept again is kept for the newest reason', () => {
    const kept = take(workspaceIn('kept'), { action: 'keep', why: 'asked', detail: 'mine' });
    expect(kept.disposition).toMatchObject({ why: 'asked', detail: 'mine' });
  });

  it('that is released has its rescue, or that none was needed', () => {
    expect(workspaceIn('released').disposition).toEqual({
      is: 'released',
      at: later,
      rescue: 'refs/copse/rescue/cp-0001/1',
    });
    const clean = take(workspaceIn('kept'), { action: 'release', rescue: null });
    expect(clean.disposition).toEqual({ is: 'released', at: later, rescue: null });
  });
});

describe('whatever happens to a workspace', () => {
  const anyRequest: fc.Arbitrary<WorkspaceRequest> = fc.oneof(
    { weight: 4, arbitrary: fc.constant(requests.use) },
    {
      weight: 4,
      arbitrary: fc.record({
        action: fc.constant('keep'),
        why: fc.constantFrom(...keepReasons),
        detail: fc.string(),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ action: fc.constant('release'), rescue: fc.option(fc.string()) }),
    },
  );

  it('follows the table, keeps its path and can be replayed', () => {
    fc.assert(
      fc.property(fc.array(anyRequest, { minLength: 1, maxLength: 30, size: 'max' }), (walk) => {
        const events: WorkspaceEvent[] = [prepared];
        let workspace = workspaceIn('in_use');
        const { disposition: _, ...place } = workspace;
        for (const [step, request] of walk.entries()) {
          const before = workspace.disposition.is;
          const decision = decideWorkspace(workspace, request, timestamp(later + step));
          expect(decision.kind === 'decided').toBe(cells[request.action][before] !== null);
          if (decision.kind === 'refused') continue;
          events.push(...decision.events);
          workspace = decision.events.reduce<Workspace>(evolveWorkspace, workspace);
          expect(workspace).toMatchObject(place);
          expect(workspace.disposition.is).toBe(cells[request.action][before]);
        }
        const [first, ...others] = JSON.parse(JSON.stringify(events)) as [
          WorkspaceEvent,
          ...WorkspaceEvent[],
        ];
        expect(others.reduce<Workspace>(evolveWorkspace, evolveWorkspace(undefined, first))).toEqual(
          workspace,
        );
      }),
      { numRuns: 1_000 },
    );
  });
});
