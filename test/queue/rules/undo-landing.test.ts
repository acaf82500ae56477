/** Which landing an undo takes back, and how the task comes about that does it. */

import { describe, expect, it } from 'vitest';

import { replay } from '../../../packages/copse/src/board/rules/event.ts';
import {
  type BranchName,
  type CommitId,
  type LandingId,
  type LedgerEntryId,
  type TaskId,
  brand,
  timestamp,
} from '../../../packages/copse/src/kernel/ids.ts';
import type { Landing } from '../../../packages/copse/src/queue/rules/landing.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import type { DoneHow, Task, TaskState } from '../../../packages/copse/src/tasks/rules/task.ts';
import {
  type Undoing,
  decideFinished,
  findUndoable,
  undoDefinition,
  undoneBy,
} from '../../../packages/copse/src/queue/rules/undo-landing.ts';

const at = timestamp(1_000);
const commit = brand<CommitId>('a'.repeat(40));
const target = brand<BranchName>('main');
const id = brand<TaskId>('cp-0001');
const undo = brand<TaskId>('cp-0002');

const definition = {
  title: 'Add a login page',
  body: 'as nice as possible',
  priority: defaultPolicy.task.priority,
  kind: 'code',
  dependsOn: [brand<TaskId>('cp-9999')],
  areas: ['src/**'],
  requires: ['tests'],
  plan: null,
  agent: null,
  accept: ['npm test'],
  workItem: null,
} as const;

function task(state: TaskState): Task {
  const rest = {
    createdAt: at,
    updatedAt: at,
    token: 0 as Task['token'],
    retries: 0,
    handbacks: {},
    session: null,
  };
  return { ...definition, id, state, ...rest };
}

const done = (how: DoneHow = 'landed') => task({ status: 'done', since: at, how, commit });

function landed(name: string, status: 'landed' | 'withdrawn' = 'landed'): Landing {
  const state =
    status === 'landed'
      ? ({ status, since: at, commit, isVerified: false } as const)
      : ({ status, since: at, reason: 'cancelled' } as const);
  const flags = { isHotfix: false, isUnchecked: false, waiting: null, attempt: null };
  return { id: brand<LandingId>(name), task: id, target, head: commit, queuedAt: at, ...flags, state };
}

const undoings = (of: Readonly<Record<string, Undoing>>) => (landing: LandingId) =>
  of[landing] ?? ({ kind: 'none' } as const);

describe('what can be undone', () => {
  it('is the latest landing, and the one before it when that was undone', () => {
    const landings = [landed('la-1'), landed('la-2'), landed('la-3', 'withdrawn')];
    expect(findUndoable(done(), landings, undoings({}))).toMatchObject({ landing: { id: 'la-2' } });
    const once = undoings({ 'la-2': { kind: 'undone', by: undo } });
    expect(findUndoable(done(), landings, once)).toMatchObject({ landing: { id: 'la-1' } });
  });

  it('is not a landing that is undone or being undone, and the task that does it is named', () => {
    const undone = findUndoable(done(), [landed('la-1')], undoings({ 'la-1': { kind: 'undone', by: undo } }));
    expect(undone).toMatchObject({
      kind: 'refused',
      refusal: { next: [`copse undo ${undo} # to bring it back`] },
    });
    const begun = { kind: 'begun', by: undo, status: 'landing' } as const;
    const again = findUndoable(done(), [landed('la-1')], undoings({ 'la-1': begun }));
    expect(again).toMatchObject({ kind: 'refused', refusal: { next: [`copse why ${undo}`] } });
  });

  it.each([
    task({ status: 'ready', since: at, delay: null }),
    task({ status: 'in_review', since: at, head: commit, pullRequest: null }),
    done('no_changes'),
    done('as_it_is'),
    done('pull_request'),
  ])('is not a task that did not land through the queue ($state.status $state.how)', (one) => {
    expect(findUndoable(one, [landed('la-1')], undoings({}))).toMatchObject({ kind: 'refused' });
    expect(findUndoable(done(), [], undoings({}))).toMatchObject({ kind: 'refused' });
  });

  it('is known from the latest note about the landing', () => {
    const note = (landing: string, by: string) => ({
      id: brand<LedgerEntryId>(`le-${by}`),
      task: id,
      session: null,
      kind: 'decision' as const,
      text: '',
      at,
      undone: { landing: brand<LandingId>(landing), by: brand<TaskId>(by) },
    });
    const ledger = [note('la-1', 'cp-1'), note('la-2', 'cp-2'), note('la-1', 'cp-3')];
    expect(undoneBy(ledger, brand('la-1'))).toBe('cp-3');
    expect(undoneBy(ledger, brand('la-9'))).toBeUndefined();
  });
});

describe('the task of an undo', () => {
  const landing = brand<LandingId>('la-9');

  it('is in the queue from the beginning, and depends on nothing', () => {
    const to = { kind: 'landing', landing, target, attempt: null, head: commit } as const;
    const decision = decideFinished({ id: undo, definition: undoDefinition(done(), 200), to }, at);
    if (decision.kind === 'refused') throw new Error('It may be undone.');
    const world = replay(decision.events);
    expect(world.task.get(undo)).toMatchObject({
      title: 'Undo: Add a login page',
      kind: 'code',
      dependsOn: [],
      requires: [],
      accept: [],
      state: { status: 'landing', landing },
    });
    expect(world.landing.get(landing)).toMatchObject({
      task: undo,
      head: commit,
      state: { status: 'queued' },
    });
  });

  it('is in review if the policy is review', () => {
    const to = { kind: 'review', head: commit, pullRequest: null } as const;
    const decision = decideFinished({ id: undo, definition: undoDefinition(done(), 200), to }, at);
    if (decision.kind === 'refused') throw new Error('It may be undone.');
    expect(replay(decision.events).task.get(undo)?.state).toMatchObject({
      status: 'in_review',
      head: commit,
    });
  });

  it('has a title of valid length, for any title of the other task', () => {
    const long = { ...done(), title: '😀'.repeat(200) };
    expect(Array.from(undoDefinition(long, 200).title)).toHaveLength(200);
  });
});
