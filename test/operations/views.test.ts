/** The shapes that scripts, dashboards and integrators read. What is here is a promise. */

import { describe, expect, test } from 'vitest';

import {
  type AgentName,
  type AttemptId,
  type CommitId,
  type EventNumber,
  type LandingId,
  type LedgerEntryId,
  type NodeId,
  type PlanId,
  type SessionId,
  type TaskId,
  brand,
  fencingToken,
  timestamp,
} from '../../packages/copse/src/kernel/ids.ts';
import { type Task, type TaskState, taskStatuses } from '../../packages/copse/src/tasks/rules/task.ts';
import {
  eventView,
  ledgerView,
  planView,
  taskView,
} from '../../packages/copse/src/operations/views/views.ts';
import { type ViewedEvent, readEventView } from '../../packages/copse/src/operations/views/data-view.ts';
import { oneOfEverything } from '../support/records/everything.ts';

const at = timestamp(Date.UTC(2026, 0, 2, 3, 4, 5, 6));
const later = timestamp(at + 60_000);
const AT = '2026-01-02T03:04:05.006Z';
const LATER = '2026-01-02T03:05:05.006Z';

const task: Task = {
  id: brand<TaskId>('cp-a1b2'),
  title: 'Größe ändern',
  body: 'Why\nand how',
  priority: 5,
  kind: 'code',
  dependsOn: [brand<TaskId>('cp-c3d4')],
  areas: ['src/**'],
  requires: ['node:22'],
  plan: brand<PlanId>('pl-1111'),
  agent: brand<AgentName>('coder'),
  accept: ['npm test'],
  workItem: { source: 'github', id: '7', url: null },
  createdAt: at,
  updatedAt: later,
  state: { status: 'pending', since: later },
  token: fencingToken(3),
  retries: 1,
  handbacks: { accept: 1 },
  session: brand<SessionId>('se-1'),
};

const states: { readonly [S in TaskState['status']]: TaskState & { readonly status: S } } = {
  pending: { status: 'pending', since: at },
  ready: { status: 'ready', since: at, delay: { until: later, because: 'crash' } },
  in_progress: {
    status: 'in_progress',
    since: at,
    claim: {
      session: brand<SessionId>('se-1'),
      attempt: brand<AttemptId>('at-1'),
      node: brand<NodeId>('no-1'),
      agent: brand<AgentName>('coder'),
      token: fencingToken(3),
    },
  },
  paused: { status: 'paused', since: at },
  stuck: { status: 'stuck', since: at, reason: 'JWT or cookies?' },
  in_review: { status: 'in_review', since: at, head: brand<CommitId>('ab'.repeat(20)), pullRequest: null },
  landing: { status: 'landing', since: at, landing: brand<LandingId>('la-1') },
  needs_attention: { status: 'needs_attention', since: at, because: 'conflict', reason: 'src/a.ts' },
  done: { status: 'done', since: at, how: 'landed', commit: brand<CommitId>('ab'.repeat(20)) },
  failed: { status: 'failed', since: at, reason: 'Crashed three times' },
  cancelled: { status: 'cancelled', since: at, reason: null },
};

describe('a task', () => {
  test('has these keys, times in ISO 8601 and a priority as p1 to p5', () => {
    expect(taskView(task)).toEqual({
      id: 'cp-a1b2',
      title: 'Größe ändern',
      body: 'Why\nand how',
      status: 'pending',
      since: LATER,
      reason: null,
      priority: 'p5',
      kind: 'code',
      dependsOn: ['cp-c3d4'],
      areas: ['src/**'],
      requires: ['node:22'],
      plan: 'pl-1111',
      addedBy: null,
      origin: null,
      agent: 'coder',
      moveTo: null,
      accept: ['npm test'],
      waiting: null,
      pullRequest: null,
      worker: null,
      workItem: { source: 'github', id: '7', url: null },
      session: 'se-1',
      retries: 1,
      notBefore: null,
      createdAt: AT,
      updatedAt: LATER,
    });
  });

  test('in a list is the same without its body', () => {
    const { body: _, ...summary } = task;
    const { body: __, ...view } = taskView(task) as ReturnType<typeof taskView> & { body: string };
    expect(taskView(summary)).toEqual(view);
  });

  test.each(taskStatuses)('that is %s has the same keys as any other', (status) => {
    const view = taskView({ ...task, state: states[status] });
    expect(Object.keys(view)).toEqual(Object.keys(taskView(task)));
    expect(view).toMatchObject({ status, since: AT });
    expect(JSON.parse(JSON.stringify(view))).toEqual(view);
  });

  test('has its reason if there is one, and the earliest time of a claim if it must wait', () => {
    const view = (state: TaskState) => taskView({ ...task, state });
    expect(view(states.stuck).reason).toBe('JWT or cookies?');
    expect(view(states.needs_attention).reason).toBe('src/a.ts');
    expect(view(states.failed).reason).toBe('Crashed three times');
    expect(view({ status: 'cancelled', since: at, reason: 'Not needed' }).reason).toBe('Not needed');
    expect(view(states.ready).notBefore).toBe(LATER);
    expect(view({ status: 'ready', since: at, delay: null }).notBefore).toBeNull();
  });
});

describe('a plan', () => {
  const plan = {
    id: brand<PlanId>('pl-1111'),
    title: 'Login',
    body: 'Because',
    createdAt: at,
    updatedAt: later,
  };

  test('counts its tasks by status and shows them', () => {
    const tasks = [
      { ...task, state: states.done },
      { ...task, state: states.done },
      { ...task, state: states.ready },
    ];
    expect(planView(plan, tasks)).toEqual({
      id: 'pl-1111',
      title: 'Login',
      body: 'Because',
      progress: { total: 3, byStatus: { done: 2, ready: 1 } },
      tasks: tasks.map((one) => taskView(one)),
      landed: [states.done, states.done].map(({ commit }) => ({ task: task.id, commit, at: AT })),
      createdAt: AT,
      updatedAt: LATER,
    });
  });

  test('without tasks has no progress', () => {
    expect(planView(plan, [])).toMatchObject({ progress: { total: 0, byStatus: {} }, tasks: [] });
  });
});

test('a ledger entry has its time in ISO 8601', () => {
  const entry = {
    id: brand<LedgerEntryId>('le-1'),
    task: task.id,
    session: null,
    kind: 'crash',
    text: 'x',
    at,
  } as const;
  expect(ledgerView(entry)).toEqual({
    id: 'le-1',
    task: 'cp-a1b2',
    session: null,
    kind: 'crash',
    text: 'x',
    at: AT,
  });
});

describe('an event', () => {
  const number = brand<EventNumber>(7);

  test.each(oneOfEverything)(
    '$type has its number, time, type, record, author and the rest as data',
    (event) => {
      const by = { kind: 'person', name: null } as const;
      const view = eventView({ number, by, event });
      const { type, id, at: _, ...data } = event;
      expect(Object.keys(view)).toEqual(['number', 'at', 'type', 'id', 'by', 'data']);
      expect(view).toMatchObject({ number: 7, type, id, at: '2023-11-14T22:13:20.000Z' });
      expect(Object.keys(view.data)).toEqual(Object.keys(data));
      expect(JSON.parse(JSON.stringify(view))).toEqual(view);
    },
  );

  test.each(oneOfEverything)('$type is the same event again after it was sent and read', (event) => {
    const by = { kind: 'person', name: null } as const;
    const sent = JSON.parse(JSON.stringify(eventView({ number, by, event }))) as ViewedEvent;
    expect(readEventView(sent)).toEqual(JSON.parse(JSON.stringify(event)));
  });

  test('names its author by kind', () => {
    const [event] = oneOfEverything;
    if (event === undefined) throw new Error('there is none');
    const authors = [
      [{ kind: 'person', name: null }, 'person'],
      [{ kind: 'person', name: 'Ada' }, 'person:Ada'],
      [{ kind: 'session', session: brand<SessionId>('se-1'), token: fencingToken(1) }, 'session:se-1'],
      [{ kind: 'node', node: brand<NodeId>('no-1') }, 'node:no-1'],
    ] as const;
    for (const [by, name] of authors) expect(eventView({ number, by, event }).by).toBe(name);
  });

  test('writes times in its data in ISO 8601, as everywhere else', () => {
    const by = { kind: 'person', name: null } as const;
    for (const event of oneOfEverything) {
      const text = JSON.stringify(eventView({ number, by, event }).data);
      expect({ type: event.type, milliseconds: /[:,[]\d{13}\b/.exec(text)?.[0] }).toEqual({
        type: event.type,
      });
    }
  });

  test('writes priorities in its data as p1 to p5, as everywhere else', () => {
    const by = { kind: 'person', name: null } as const;
    const { id, title, body, priority, kind, dependsOn, areas, requires, plan, agent, accept, workItem } =
      task;
    const definition = {
      title,
      body,
      priority,
      kind,
      dependsOn,
      areas,
      requires,
      plan,
      agent,
      accept,
      workItem,
    };
    const created = { type: 'task.created', id, at, definition, status: 'ready' } as const;
    expect(eventView({ number, by, event: created }).data).toMatchObject({ definition: { priority: 'p5' } });
    const edited = { type: 'task.edited', id, at, changes: { priority: 1 } } as const;
    expect(eventView({ number, by, event: edited }).data).toMatchObject({ changes: { priority: 'p1' } });
  });
});
