import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  type AnyRecord,
  type BoardEvent,
  type RecordKind,
  evolve,
  isRecordKind,
  kindOf,
  recordKinds,
  replay,
} from '../../../packages/copse/src/board/rules/event.ts';
import { brand, fencingToken, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import type {
  AgentName,
  AttemptId,
  BranchName,
  JobId,
  LandingId,
  NodeId,
  ScheduleId,
  SessionId,
  TaskId,
  WorkspaceId,
} from '../../../packages/copse/src/kernel/ids.ts';
import { emptyQueueState } from '../../../packages/copse/src/queue/rules/decide/state.ts';
import { commit, definition, target } from '../../support/records/world.ts';

const at = timestamp(1_000);
const task = brand<TaskId>('cp-0001');
const session = brand<SessionId>('se-1');
const attempt = brand<AttemptId>('at-1');
const node = brand<NodeId>('no-1');
const agent = brand<AgentName>('coder');
const token = fencingToken(1);
const grant = { claim: { session, attempt, node, agent, token }, leaseUntil: timestamp(31_000) };
const reason = 'because';
const intent = { oldTip: commit, newTip: commit, commit, isVerified: true };
const hourly = { type: 'interval', everyMs: 3_600_000 } as const;
const worktree = {
  path: '.worktrees/cp-0001',
  branch: brand<BranchName>('cp-0001/add-login'),
  baseBranch: target,
  baseCommit: commit,
};

const origin = {
  kind: 'schedule',
  schedule: brand<ScheduleId>('coder/nightly'),
  job: brand<JobId>('jb-1'),
} as const;

const due = { dueAt: timestamp(8_000), nextAt: timestamp(9_000), owed: 1 };

type TypeOf<K extends RecordKind> = Extract<BoardEvent['type'], `${K}.${string}`>;
type Details<T extends BoardEvent['type']> = Omit<Extract<BoardEvent, { type: T }>, 'type' | 'id' | 'at'>;

/** One life of every kind of record, with every event there is: what begins it first, what ends it last. */
const lives: { readonly [K in RecordKind]: { readonly [T in TypeOf<K>]: Details<T> } } = {
  task: {
    'task.created': { definition, status: 'pending', origin },
    'task.edited': { changes: { title: 'Add logout' } },
    'task.dependencies_changed': { dependsOn: [brand<TaskId>('cp-0002')], status: 'pending' },
    'task.promoted': {},
    'task.claimed': grant,
    'task.crashed': { reason, retries: 1, delay: { until: timestamp(9_000), because: 'crash' } },
    'task.failed': { reason },
    'task.parked': { until: timestamp(9_000), because: 'rate_limit' },
    'task.stuck': { reason },
    'task.restarted': { grant: null, automatic: { number: 1, of: 2 } },
    'task.handed_back': { because: 'dirty', reason, grant: null },
    'task.paused': {},
    'task.resumed': grant,
    'task.sent_to_review': { head: commit, pullRequest: null },
    'task.pull_request_changed': {
      pullRequest: {
        is: 'open',
        url: 'https://forge.example.invalid/o/r/pull/7',
        number: 7,
        branch: brand<BranchName>('cp-0001/add-login'),
        target,
        note: null,
        review: 'approved',
        hasConflict: false,
      },
    },
    'task.queued': { landing: brand<LandingId>('la-1') },
    'task.needs_attention': { because: 'push', reason },
    'task.done': { how: 'landed', commit },
    'task.cancelled': { reason: null },
    'task.reset': { upTo: token, workspaces: [brand<WorkspaceId>('ws-1')] },
    'task.moved': { to: { node, name: 'laptop' } },
    'task.token_raised': { token },
    'task.deleted': {},
  },
  plan: {
    'plan.added': { title: 'Accounts', body: 'Why' },
    'plan.edited': { changes: { title: 'All accounts' } },
  },
  session: {
    'session.opened': { task, agent, workItem: null, follows: null, phase: 'registered' },
    'session.advanced': { phase: 'working' },
    'session.misreported': { problem: 'It is not JSON' },
    'session.attention': { attention: 'idle' },
    'session.conversation_known': { conversation: 'c-1' },
    'session.used': { usage: { input: 10, cached: 100, output: 5, dollars: 0.5 } },
    'session.asked': { question: { id: 'qu-1', tool: 'Bash', what: 'rm -rf build' } },
    'session.answered': { question: 'qu-1', answer: { isAllowed: false, message: 'Not that.' } },
    'session.taken_over': { person: 'anna', isKept: false },
    'session.given_back': { because: 'asked' },
    'session.stuck': { reason },
    'session.interrupted': { because: 'paused' },
    'session.reopened': { phase: 'working' },
    'session.completed': {},
    'session.cancelled': {},
  },
  attempt: {
    'attempt.started': { session, task, node, token },
    'attempt.process_known': { pid: 42, startTime: 7 },
    'attempt.snapshotted': { commit, head: commit, readAt: at },
    'attempt.travel_problem': { problem: reason },
    'attempt.hook_started': { hook: 'on_error', by: { node, pid: 42, startTime: 7 } },
    'attempt.hook_ended': { hook: 'on_error', problem: reason },
    'attempt.ended': { reason: 'completed', exitCode: 0 },
  },
  workspace: {
    'workspace.prepared': { task, node, strategy: 'git_worktree', worktree },
    'workspace.kept': { why: 'asked', detail: '' },
    'workspace.used_again': {},
    'workspace.escaped': { paths: ['src/a.ts'], more: 0, head: null, running: [session], session },
    'workspace.escape_moved': { paths: ['src/a.ts'], rescue: 'refs/copse/rescue/cp-0001/1' },
    'workspace.hooks_wrote': { paths: ['report.txt'] },
    'workspace.released': { rescue: null },
  },
  landing: {
    'landing.queued': { task, target, attempt, head: commit },
    'landing.merging': {},
    'landing.requeued': { head: commit, reason },
    'landing.waiting': { reason },
    'landing.checking': { candidate: commit },
    'landing.hurried': {},
    'landing.checks_skipped': {},
    'landing.noted': { note: 'Resolved as before: src/a.ts' },
    'landing.journalled': { intent },
    'landing.landed': { commit },
    'landing.conflicted': { files: ['src/a.ts'], with: [] },
    'landing.rejected': { reason },
    'landing.withdrawn': { reason },
  },
  check: {
    'check.started': { target, tree: 'tree', command: 'npm test', environment: 'linux', node },
    'check.ended': { verdict: 'red', exitCode: 1, log: 'log' },
  },
  queue: {
    'queue.paused': { what: 'land', reason },
    'queue.resumed': { what: 'land' },
    'queue.retried': {},
    'queue.decided': { state: emptyQueueState, runs: [] },
    'queue.stalled': { reason },
    'queue.moving': {},
  },
  ledger: { 'ledger.added': { task, session, kind: 'learning', text: 'slow tests' } },
  artifact: { 'artifact.added': { task, kind: 'patch', address: 'a.patch', title: null } },
  node: {
    'node.joined': { name: 'laptop' },
    'node.changed': { clockOffsetMs: 40 },
    'node.renamed': { name: 'desk' },
    'node.drained': { withinMs: 600_000, by: 'person' },
    'node.resumed': {},
    'node.left': {},
  },
  resource: {
    'resource.taken': { holder: 'no-1', token, until: null },
    'resource.released': { token },
    'resource.token_raised': { token },
  },
  schedule: {
    'schedule.set': { agent, name: 'nightly', timing: hourly, nextAt: null, definedBy: node },
    'schedule.fired': {
      ...due,
      job: brand<JobId>('jb-1'),
      task: brand<TaskId>('cp-0001'),
    },
    'schedule.passed': { ...due, because: 'overlap' },
    'schedule.paused': {},
    'schedule.resumed': { nextAt: null },
    'schedule.removed': {},
  },
  delivery: {
    'delivery.received': { trigger: 'hook', task: brand<TaskId>('cp-0001'), source: null },
  },
  item: {
    'item.taken': {
      source: 'github',
      item: '12',
      url: null,
      title: 'Add login',
      mark: 'a',
      by: 'ann',
      author: 'bob',
      dependsOn: [],
      task,
    },
    'item.changed': { title: 'Add logout', mark: 'b', isGiven: false },
    'item.linked': { dependsOn: ['11'] },
    'item.closed': {},
    'item.reopened': {},
    'item.reported': { phase: 'working', comment: '99' },
  },
};

const kinds = Object.keys(lives) as readonly RecordKind[];

function lifeOf(kind: RecordKind, id: string): readonly BoardEvent[] {
  return Object.entries(lives[kind]).map(
    ([type, details], index) =>
      Object.assign({ type, id, at: timestamp(at + index) }, details) as unknown as BoardEvent,
  );
}

const everyEvent = kinds.flatMap((kind) =>
  lifeOf(kind, 'x-1').map((event) => ({ kind, type: event.type, event })),
);

describe('an event', () => {
  it.each(everyEvent)('$type is about a $kind', ({ kind, event }) => {
    expect(kindOf(event)).toBe(kind);
  });

  it.each(['ghost.seen', 'toString.called', 'constructor.ran', '__proto__.set', 'task', '', '.created'])(
    'of the unknown type %j throws, naming the type',
    (type) => {
      const event = { type, id: 'x-1', at } as unknown as BoardEvent;
      expect(() => kindOf(event)).toThrow(`${type} has no kind of record`);
      expect(() => evolve(undefined, event)).toThrow(type);
      expect(() => replay([event])).toThrow(type);
    },
  );

  const begins = new Set(kinds.map((kind) => Object.keys(lives[kind])[0]));

  it.each(everyEvent.filter(({ type }) => begins.has(type)))('$type makes the record', ({ event }) => {
    expect(evolve(undefined, event)).toMatchObject({ id: 'x-1' });
  });

  // Joining again, setting a schedule anew and taking a resource are no second beginnings.
  const mayRepeat = new Set(['node.joined', 'schedule.set', 'resource.taken', 'queue.paused']);
  const beginsOnce = everyEvent.filter(({ type }) => begins.has(type) && !mayRepeat.has(type));

  it.each(beginsOnce)('$type throws if the record exists, naming both', ({ type, event }) => {
    expect(() => replay([event, event])).toThrow(`${type} happened to x-1, which already exists`);
  });

  // A target has a queue from the beginning: whatever happens to it first makes the record.
  const needsItsRecord = everyEvent.filter(({ kind, type }) => kind !== 'queue' && !begins.has(type));

  it.each(needsItsRecord)('$type throws if there is no record, naming both', ({ type, event }) => {
    const message = `${type} happened to x-1, which does not exist`;
    expect(() => evolve(undefined, event)).toThrow(message);
    expect(() => replay([event])).toThrow(message);
  });
});

describe('the kinds of records', () => {
  it('are complete', () => {
    expect(recordKinds.toSorted().join(' ')).toBe(
      'artifact attempt check delivery item landing ledger node plan queue resource schedule session task workspace',
    );
  });

  it('are recognised, and no other kind is', () => {
    expect(recordKinds.every(isRecordKind)).toBe(true);
    expect(['', 'Task', 'tasks', 'toString', '__proto__', 'hasOwnProperty'].some(isRecordKind)).toBe(false);
  });
});

describe('a record without decisions of its own', () => {
  const told = (kind: RecordKind, upTo?: number) =>
    lifeOf(kind, 'x-1').slice(0, upTo).reduce<AnyRecord | undefined>(evolve, undefined);

  it('is a plan, with its newest text and the time of the change', () => {
    const plan = { id: 'x-1', title: 'Accounts', body: 'Why', createdAt: 1_000, updatedAt: 1_000 };
    expect(told('plan', 1)).toEqual(plan);
    expect(told('plan')).toEqual({ ...plan, title: 'All accounts', updatedAt: 1_001 });
  });

  it('is a check, which has a verdict only once it ended', () => {
    const given = { id: 'x-1', ...lives.check['check.started'], startedAt: 1_000 };
    expect(told('check', 1)).toEqual({ ...given, end: null });
    expect(told('check')).toEqual({
      ...given,
      end: { at: 1_001, verdict: 'red', exitCode: 1, log: 'log' },
    });
  });

  it('is a ledger entry or an artifact, as it was added', () => {
    expect(told('ledger')).toEqual({ id: 'x-1', at, ...lives.ledger['ledger.added'] });
    expect(told('artifact')).toEqual({ id: 'x-1', at, ...lives.artifact['artifact.added'] });
  });
});

describe('a replay', () => {
  /** Records of all kinds, two of each, which share their ids across kinds. */
  const records = kinds.flatMap((kind) => ['x-1', 'x-2'].map((id) => ({ kind, id })));
  const mixedHistory = fc.array(fc.nat(records.length - 1), { maxLength: 250, size: 'max' }).map((turns) => {
    const left = records.map(({ kind, id }) => lifeOf(kind, id).toReversed());
    return turns.flatMap((turn) => left[turn]?.pop() ?? []);
  });

  it('of a mixed history equals applying one event at a time, and does not change its input', () => {
    fc.assert(
      fc.property(mixedHistory, (events) => {
        const evolved = new Map<string, AnyRecord>();
        for (const event of events.map(frozen)) {
          const key = `${kindOf(event)} ${event.id}`;
          const next = evolve(evolved.get(key), event);
          if (next === undefined) evolved.delete(key);
          else evolved.set(key, frozen(next));
        }
        const world = replay(JSON.parse(JSON.stringify(events)) as BoardEvent[]);
        expect(Object.keys(world).toSorted()).toEqual(kinds.toSorted());
        const told = kinds.flatMap((kind) => [...world[kind]].map(([id, one]) => [`${kind} ${id}`, one]));
        expect(new Map(told as [string, AnyRecord][])).toEqual(evolved);
        for (const [key, record] of evolved) expect(key.split(' ')[1]).toBe(record.id);
      }),
      { numRuns: 300 },
    );
  });

  it('of no events has an empty list for every kind of record', () => {
    const world = replay([]);
    expect(kinds.map((kind) => world[kind].size)).toEqual(kinds.map(() => 0));
  });

  it.each(['task', 'schedule'] as const)(
    'has no %s once it is deleted, and still has its neighbour',
    (kind) => {
      const [gone, stays] = [lifeOf(kind, 'x-1'), lifeOf(kind, 'x-2').slice(0, -1)];
      const world = replay([...stays, ...gone]);
      expect([...world[kind].keys()]).toEqual(['x-2']);
      expect(() => replay([...gone, ...gone.slice(1, 2)])).toThrow('x-1, which does not exist');
    },
  );

  it('keeps every record of a kind that nothing deletes', () => {
    for (const kind of kinds.filter((one) => one !== 'task' && one !== 'schedule'))
      expect([...replay(lifeOf(kind, 'x-1'))[kind].keys()]).toEqual(['x-1']);
  });
});

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(frozen);
    Object.freeze(value);
  }
  return value;
}
