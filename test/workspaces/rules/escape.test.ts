import { describe, expect, it } from 'vitest';

import {
  type CheckoutState,
  type RunningSession,
  decideEscape,
  describeEscape,
} from '../../../packages/copse/src/workspaces/rules/escape.ts';
import {
  type CommitId,
  type SessionId,
  type TaskId,
  type WorkspaceId,
  brand,
  timestamp,
} from '../../../packages/copse/src/kernel/ids.ts';
import { type Workspace, evolveWorkspace } from '../../../packages/copse/src/workspaces/rules/workspace.ts';

const first = brand<CommitId>('1'.repeat(40));
const second = brand<CommitId>('2'.repeat(40));
const rules = { listedPaths: 3 };

function state(changes: Readonly<Record<string, string | null>> = {}, head = first): CheckoutState {
  return {
    head,
    branch: null,
    changes: Object.entries(changes).map(([path, version]) => ({ path, version, stat: '' })),
  };
}

function session(name: string, facts: Partial<RunningSession> = {}): RunningSession {
  return {
    session: brand<SessionId>(`se-${name}`),
    task: brand<TaskId>(`cp-${name}`),
    workspace: brand<WorkspaceId>(`ws-${name}`),
    isAtHome: false,
    wasSeenThere: false,
    ...facts,
  };
}

const [one, two] = [session('0001'), session('0002')];

describe('an escape', () => {
  const cases: Readonly<Record<string, readonly [CheckoutState, CheckoutState, readonly string[] | null]>> = {
    'nothing changed': [state({ a: 'x' }), state({ a: 'x' }), null],
    'a file appeared': [state(), state({ a: 'x' }), ['a']],
    'a file that was edited before was edited again': [
      state({ a: 'x', b: 'y' }),
      state({ a: 'z', b: 'y' }),
      ['a'],
    ],
    'a file was deleted': [state({ a: 'x' }), state({ a: null }), ['a']],
    'a file was put back': [state({ a: 'x' }), state(), null],
    'a file is named like a property of every object': [
      state(),
      state({ constructor: 'x' }),
      ['constructor'],
    ],
  };

  it.each(Object.entries(cases))('is reported or not when %s', (_, [before, now, paths]) => {
    expect(decideEscape(before, now, [one], rules)?.paths ?? null).toEqual(paths);
  });

  it('is not reported while no session runs, or while one runs in the main checkout', () => {
    expect(decideEscape(state(), state({ a: 'x' }), [], rules)).toBeNull();
    const athome = session('0003', { isAtHome: true });
    expect(decideEscape(state(), state({ a: 'x' }), [one, athome], rules)).toBeNull();
  });

  it('names one session only if no other ran, or if only its process was seen there', () => {
    const told = (...sessions: readonly RunningSession[]) =>
      decideEscape(state(), state({ a: 'x' }), sessions, rules);
    const seen = (of: RunningSession) => ({ ...of, wasSeenThere: true });
    expect(told(one)).toMatchObject({ session: 'se-0001', running: ['se-0001'] });
    expect(told(one, two)).toMatchObject({ session: null, running: ['se-0001', 'se-0002'] });
    expect(told(one, seen(two))).toMatchObject({ session: 'se-0002', running: ['se-0001', 'se-0002'] });
    expect(told(seen(one), seen(two))).toMatchObject({ session: null });
  });

  it('is also a move of the checkout to another commit, unless Copse moved it', () => {
    const escape = decideEscape(state(), state({}, second), [one], rules);
    expect(escape).toMatchObject({ paths: [], head: { from: first, to: second } });
    expect(decideEscape(state(), state({}, second), [one], { ...rules, expectedHeads: [second] })).toBeNull();
  });

  it('lists a limited number of paths, in order, and counts the rest', () => {
    const now = state({ e: 'x', d: 'x', c: 'x', b: 'x', a: 'x' });
    expect(decideEscape(state(), now, [one], rules)).toMatchObject({ paths: ['a', 'b', 'c'], more: 2 });
  });

  it('is described as a change while a task was running, without naming who did it', () => {
    const escape = decideEscape(state(), state({ a: 'x' }, second), [one], rules)!;
    expect(describeEscape(escape, [one.task])).toBe(
      '1 file of the main checkout changed and the main checkout moved to commit 222222222222 while cp-0001 was running.',
    );
    const many = decideEscape(state(), state({ e: 'x', d: 'x', c: 'x', b: 'x' }), [one, two], rules)!;
    expect(describeEscape(many, [one.task, two.task])).toBe(
      '4 files of the main checkout changed while cp-0001, cp-0002 were running.',
    );
  });
});

describe('a workspace', () => {
  const prepared: Workspace = {
    id: brand<WorkspaceId>('ws-0001'),
    task: one.task,
    node: brand('no-1'),
    strategy: 'git_worktree',
    worktree: null,
    preparedAt: timestamp(1),
    disposition: { is: 'in_use' },
  };
  const id = prepared.id;
  const escape = decideEscape(state(), state({ a: 'x', b: 'x' }), [one], rules)!;
  const escaped = evolveWorkspace(prepared, { type: 'workspace.escaped', id, at: timestamp(2), ...escape });
  const moved = (paths: readonly string[]) =>
    evolveWorkspace(escaped, {
      type: 'workspace.escape_moved',
      id,
      at: timestamp(3),
      paths,
      rescue: 'refs/r',
    });

  it('records the latest escape and is otherwise unchanged', () => {
    expect(escaped).toEqual({ ...prepared, escape: { ...escape, at: 2 } });
  });

  it('forgets moved paths, and the escape when all of them were moved', () => {
    expect(moved(['a']).escape?.paths).toEqual(['b']);
    expect(moved(['a', 'b'])).toEqual(prepared);
  });
});
