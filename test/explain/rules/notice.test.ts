/** Which events people are told of, in which words, and how often. */

import { describe, expect, it, test } from 'vitest';

import type { BoardEvent } from '../../../packages/copse/src/board/rules/event.ts';
import {
  type AgentName,
  type AttemptId,
  type BranchName,
  type CommitId,
  type LandingId,
  type NodeId,
  type SessionId,
  type TaskId,
  brand,
  fencingToken,
  timestamp,
} from '../../../packages/copse/src/kernel/ids.ts';
import {
  type Announcing,
  type NoticeKind,
  type Occasion,
  decideNotices,
  noticedTypes,
  nothingTold,
  occasionOf,
  settledBy,
  withMoving,
  withOccasion,
  withSettled,
  withStall,
} from '../../../packages/copse/src/explain/rules/notice.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import type { DoneHow } from '../../../packages/copse/src/tasks/rules/task.ts';

const id = brand<TaskId>('cp-a1b2');
const session = brand<SessionId>('se-1');
const at = timestamp(5_000);
const task = { id, title: 'Add a login page' };
const ofSession = { id: session, at };
const ofTask = { id, at };
const claim = {
  session,
  attempt: brand<AttemptId>('at-1'),
  node: brand<NodeId>('n-1'),
  agent: brand<AgentName>('coder'),
  token: fencingToken(1),
};
const head = brand<CommitId>('a'.repeat(40));
const wanted = {
  is: 'wanted',
  branch: brand<BranchName>('cp-a1b2'),
  target: brand<BranchName>('main'),
  note: null,
  summary: null,
} as const;
const grant = { claim, leaseUntil: timestamp(9_000) };
const done = (how: DoneHow): BoardEvent => ({
  type: 'task.done',
  ...ofTask,
  how,
  commit: how === 'landed' ? brand<CommitId>('c'.repeat(40)) : null,
});

describe('an event', () => {
  test.each<[name: string, event: BoardEvent, told: readonly [NoticeKind, string, string] | null]>([
    [
      'a question',
      {
        type: 'session.asked',
        ...ofSession,
        question: { id: 'qu-1', tool: 'Bash', what: '\nrm -rf build\nand more' },
      },
      ['permission', 'Bash: rm -rf build', 'copse answer cp-a1b2'],
    ],
    [
      'a prompt for permission in its own terminal',
      { type: 'session.attention', ...ofSession, attention: 'permission' },
      ['permission', '', 'copse why cp-a1b2'],
    ],
    [
      'an idle agent that says why',
      { type: 'session.attention', ...ofSession, attention: 'idle', message: 'Which port?\nOr none?' },
      ['idle', 'Which port?', 'copse why cp-a1b2'],
    ],
    ['an agent that goes on', { type: 'session.attention', ...ofSession, attention: null }, null],
    [
      'a stuck task',
      { type: 'task.stuck', ...ofTask, reason: '  \n Drop it?\nOr keep it?' },
      ['stuck', 'Drop it?', 'copse restart cp-a1b2 --answer "…"'],
    ],
    [
      'one that needs attention',
      { type: 'task.needs_attention', ...ofTask, because: 'conflict', reason: 'a.txt conflicts' },
      ['needs_attention', 'a.txt conflicts', 'copse why cp-a1b2'],
    ],
    [
      'finished work for a person to review',
      { type: 'task.sent_to_review', ...ofTask, head, pullRequest: null },
      ['review', 'Finished, waiting for your review.', 'copse review cp-a1b2'],
    ],
    [
      'finished work that becomes a pull request',
      { type: 'task.sent_to_review', ...ofTask, head, pullRequest: wanted },
      null,
    ],
    [
      'the last crash',
      { type: 'task.crashed', ...ofTask, reason: 'exit 3', retries: 3, delay: null },
      ['failed', 'After 3 attempts; last error: exit 3.', 'copse why cp-a1b2'],
    ],
    [
      'a crash that is tried again',
      {
        type: 'task.crashed',
        ...ofTask,
        reason: 'exit 3',
        retries: 1,
        delay: { until: timestamp(9_000), because: 'crash' },
      },
      null,
    ],
    ['a landing', done('landed'), ['landed', 'Landed as cccccccccc.', 'copse show cp-a1b2']],
    [
      'a merged pull request',
      done('pull_request'),
      ['landed', 'Its pull request was merged.', 'copse show cp-a1b2'],
    ],
    [
      'nothing to do',
      done('no_changes'),
      ['landed', 'Finished: there was nothing to change.', 'copse show cp-a1b2'],
    ],
    [
      'a rate limit',
      { type: 'task.parked', ...ofTask, until: timestamp(9_000), because: 'rate_limit' },
      null,
    ],
    ['a heartbeat of phases', { type: 'session.advanced', ...ofSession, phase: 'working' }, null],
  ])('%s is announced, or not', (_, event, told) => {
    const occasion = occasionOf(event, task);
    expect(occasion && [occasion.kind, occasion.reason, occasion.command]).toEqual(told ?? undefined);
    if (occasion) expect(occasion).toMatchObject({ task: id, title: task.title, at });
    if (occasion) expect(noticedTypes).toContain(event.type);
  });

  it('is announced in one line that a terminal and a desktop can show', () => {
    const occasion = occasionOf(
      { type: 'task.stuck', ...ofTask, reason: `\u001b[31mred\u0007 ${'x'.repeat(900)}` },
      task,
    );
    expect(occasion?.reason).toMatch(/^\\x1b\[31mred\\x07 x+…$/);
    expect(occasion?.reason).toHaveLength(defaultPolicy.notifications.reasonLength);
  });

  const waiting = (...kinds: readonly NoticeKind[]): Announcing =>
    kinds.reduce((state, kind) => withOccasion(state, about(kind)), nothingTold);

  test.each<[event: BoardEvent, left: readonly NoticeKind[]]>([
    [
      {
        type: 'session.answered',
        ...ofSession,
        question: 'qu-1',
        answer: { isAllowed: true, message: null },
      },
      ['stuck', 'landed'],
    ],
    // A question may be open beside it.
    [{ type: 'session.attention', ...ofSession, attention: null }, ['permission', 'stuck', 'landed']],
    [
      { type: 'session.attention', ...ofSession, attention: 'idle' },
      ['permission', 'idle', 'stuck', 'landed'],
    ],
    [{ type: 'session.advanced', ...ofSession, phase: 'working' }, ['permission', 'stuck', 'landed']],
    [{ type: 'session.interrupted', ...ofSession, because: 'crashed' }, ['stuck', 'landed']],
    [{ type: 'session.completed', ...ofSession }, ['stuck', 'landed']],
    [{ type: 'task.restarted', ...ofTask, grant }, ['permission', 'idle', 'landed']],
    [{ type: 'task.resumed', ...ofTask, ...grant }, ['permission', 'idle', 'landed']],
    [{ type: 'task.queued', ...ofTask, landing: brand<LandingId>('la-1') }, ['permission', 'idle', 'landed']],
    [{ type: 'task.cancelled', ...ofTask, reason: null }, ['permission', 'idle', 'landed']],
    [{ type: 'task.edited', ...ofTask, changes: {} }, ['permission', 'idle', 'stuck', 'landed']],
  ])('$type cancels pending notices of its task', (event, left) => {
    const before = waiting('permission', 'idle', 'stuck', 'landed');
    const settled = settledBy(event);
    expect(settled.includes('review')).toBe(settled.includes('stuck'));
    expect(withSettled(before, id, settled).waiting.map(({ kind }) => kind)).toEqual(left);
    expect(withSettled(before, brand<TaskId>('cp-else'), settled).waiting).toHaveLength(4);
    if (settled.length > 0) expect(noticedTypes).toContain(event.type);
  });
});

function about(kind: NoticeKind, name = 'cp-a1b2', reason = ''): Occasion {
  const of = brand<TaskId>(name);
  return { kind, task: of, title: `Title of ${name}`, reason, command: `copse why ${name}`, at };
}

const policy = { repeatMs: 60_000, burst: 3, burstMs: 10_000 };

interface Moment {
  readonly atMs: number;
  readonly hear?: readonly Occasion[];
  readonly settle?: readonly [task: string, kind: NoticeKind];
  readonly isLast?: boolean;
  /** The headlines that go out, and when to ask again. */
  readonly send: readonly string[];
  readonly againMs?: number | null;
}

describe('how often people are notified', () => {
  test.each<[rule: string, moments: readonly Moment[]]>([
    [
      'one by one, as long as they are few',
      [
        { atMs: 0, hear: [about('stuck', 'cp-1')], send: ['cp-1 is stuck: Title of cp-1'] },
        { atMs: 1, hear: [about('failed', 'cp-1')], send: ['cp-1 failed: Title of cp-1'] },
        { atMs: 2, hear: [about('landed', 'cp-2')], send: ['cp-2 is done: Title of cp-2'] },
      ],
    ],
    ['nothing when nothing happened', [{ atMs: 0, send: [], againMs: null }]],
    [
      'the same kind about the same task not before its time, and then the latest once',
      [
        { atMs: 0, hear: [about('permission', 'cp-1')], send: ['cp-1 asks for permission: Title of cp-1'] },
        { atMs: 5_000, hear: [about('permission', 'cp-1')], send: [], againMs: 60_000 },
        { atMs: 9_000, hear: [about('permission', 'cp-1')], send: [], againMs: 60_000 },
        { atMs: 59_999, send: [], againMs: 60_000 },
        { atMs: 60_000, send: ['cp-1 asks for permission: Title of cp-1'], againMs: null },
        { atMs: 60_001, send: [], againMs: null },
      ],
    ],
    [
      'another kind, or another task, at once',
      [
        { atMs: 0, hear: [about('idle', 'cp-1')], send: ['cp-1 waits for you: Title of cp-1'] },
        {
          atMs: 1,
          hear: [about('idle', 'cp-2'), about('stuck', 'cp-1')],
          send: ['cp-2 waits for you: Title of cp-2', 'cp-1 is stuck: Title of cp-1'],
        },
      ],
    ],
    [
      'not at all of what is settled while it waits',
      [
        { atMs: 0, hear: [about('permission', 'cp-1')], send: ['cp-1 asks for permission: Title of cp-1'] },
        { atMs: 1_000, hear: [about('permission', 'cp-1')], send: [], againMs: 60_000 },
        { atMs: 2_000, settle: ['cp-1', 'permission'], send: [], againMs: null },
        { atMs: 60_000, send: [], againMs: null },
      ],
    ],
    [
      'as one, when many come at once',
      [
        {
          atMs: 0,
          hear: ['cp-1', 'cp-2', 'cp-3', 'cp-4'].map((name) => about('failed', name)),
          send: ['News of 4 tasks'],
          againMs: null,
        },
        { atMs: 1, hear: [about('stuck', 'cp-5')], send: ['cp-5 is stuck: Title of cp-5'] },
      ],
    ],
    [
      'as one when the time is over, when many come one after another',
      [
        { atMs: 0, hear: [about('failed', 'cp-1')], send: ['cp-1 failed: Title of cp-1'] },
        { atMs: 1, hear: [about('failed', 'cp-2')], send: ['cp-2 failed: Title of cp-2'] },
        { atMs: 2, hear: [about('failed', 'cp-3')], send: ['cp-3 failed: Title of cp-3'] },
        { atMs: 3, hear: [about('failed', 'cp-4')], send: [], againMs: 10_000 },
        { atMs: 4, hear: [about('failed', 'cp-5')], send: [], againMs: 10_000 },
        { atMs: 9_999, send: [], againMs: 10_000 },
        { atMs: 10_000, send: ['News of 2 tasks'], againMs: null },
        { atMs: 10_001, hear: [about('failed', 'cp-6')], send: ['cp-6 failed: Title of cp-6'] },
      ],
    ],
    [
      'in full when there is no later',
      [
        { atMs: 0, hear: [about('stuck', 'cp-1')], send: ['cp-1 is stuck: Title of cp-1'] },
        { atMs: 1, hear: [about('stuck', 'cp-1')], isLast: true, send: ['cp-1 is stuck: Title of cp-1'] },
        {
          atMs: 2,
          hear: [about('stuck', 'cp-1'), about('failed', 'cp-2')],
          isLast: true,
          send: ['News of 2 tasks'],
          againMs: null,
        },
        { atMs: 3, hear: [about('failed', 'cp-3')], isLast: true, send: ['cp-3 failed: Title of cp-3'] },
      ],
    ],
  ])('%s', (_, moments) => {
    let state = nothingTold;
    for (const { atMs, hear = [], settle, isLast = false, send, againMs } of moments) {
      if (settle) state = withSettled(state, brand<TaskId>(settle[0]), [settle[1]]);
      state = hear.reduce(withOccasion, state);
      const decided = decideNotices(state, atMs, policy, { isLast });
      expect({ atMs, send: decided.notices.map(({ headline }) => headline) }).toEqual({ atMs, send });
      if (againMs !== undefined) expect({ atMs, againMs: decided.againMs }).toEqual({ atMs, againMs });
      ({ state } = decided);
    }
  });

  it('keeps a bounded state over a long time', () => {
    let state = nothingTold;
    for (let index = 0; index < 500; index += 1) {
      state = withOccasion(state, about('landed', `cp-${index}`));
      ({ state } = decideNotices(state, index * 20_000, policy));
    }
    expect(state.toldMs.size).toBeLessThanOrEqual(3);
    expect(state.sentMs).toHaveLength(1);
    expect(state.waiting).toEqual([]);
  });
});

describe('a notice', () => {
  const told = (...occasions: readonly Occasion[]) =>
    decideNotices(occasions.reduce(withOccasion, nothingTold), 0, { ...policy, burst: 1 }).notices;

  it('about one task has its id, the reason and the command', () => {
    expect(told(about('stuck', 'cp-1', 'Drop it?'))).toEqual([
      {
        headline: 'cp-1 is stuck: Title of cp-1',
        text: 'Drop it?',
        command: 'copse why cp-1',
        isUrgent: true,
        about: [about('stuck', 'cp-1', 'Drop it?')],
      },
    ]);
  });

  it('about several has counts by kind, urgent ones first, and keeps each of them', () => {
    const all = [
      about('landed', 'cp-1'),
      ...['cp-2', 'cp-3', 'cp-4', 'cp-5', 'cp-6'].map((name) => about('stuck', name)),
      about('failed', 'cp-7'),
      about('permission', 'cp-8'),
      about('permission', 'cp-9'),
    ];
    const [notice, ...others] = told(...all);
    expect(others).toEqual([]);
    expect(notice).toEqual({
      headline: 'News of 9 tasks',
      text: 'cp-7 failed\ncp-8 and cp-9 ask for permission\ncp-2, cp-3, cp-4 and 2 more are stuck\ncp-1 is done',
      command: 'copse list',
      isUrgent: true,
      about: all,
    });
  });

  it('is urgent unless a person has nothing to do', () => {
    expect(told(about('landed', 'cp-1')).map(({ isUrgent }) => isUrgent)).toEqual([false]);
    expect(told(about('landed', 'cp-1'), about('landed', 'cp-2')).map(({ isUrgent }) => isUrgent)).toEqual([
      false,
    ]);
    expect(told(about('landed', 'cp-1'), about('idle', 'cp-2')).map(({ isUrgent }) => isUrgent)).toEqual([
      true,
    ]);
  });
});

describe('a queue that does not move', () => {
  const main = brand<BranchName>('main');
  const about = { task: id, title: task.title, reason: 'the remote refuses\nat length', at };
  const stalled = withStall(nothingTold, about, { queue: main, dueMs: 600 });
  const { notifications: policy } = defaultPolicy;

  it('is announced once after a while, for the task that waits longest', () => {
    expect(decideNotices(stalled, 599, policy)).toMatchObject({ notices: [], againMs: 600 });
    const { notices, state, againMs } = decideNotices(stalled, 600, policy);
    expect(notices).toMatchObject([
      {
        headline: 'cp-a1b2 waits in a stalled queue: Add a login page',
        text: 'the remote refuses',
        command: 'copse queue',
        isUrgent: true,
      },
    ]);
    expect(againMs).toBeNull();
    expect(decideNotices(state, 1_000_000, policy).notices).toEqual([]);
  });

  it('that moves again in time is not announced, nor earlier because the program ends', () => {
    expect(decideNotices(withMoving(stalled, main), 600, policy).notices).toEqual([]);
    expect(decideNotices(withMoving(stalled, brand<BranchName>('other')), 600, policy).notices).toHaveLength(
      1,
    );
    expect(decideNotices(stalled, 599, policy, { isLast: true }).notices).toEqual([]);
  });

  it('with another reason, or another task in front, is still the same stall', () => {
    const other = { ...about, task: brand<TaskId>('cp-c3d4'), reason: 'a checkout is in the way' };
    const still = withStall(stalled, other, { queue: main, dueMs: 900 });
    expect(decideNotices(still, 600, policy).notices).toMatchObject([{ text: 'a checkout is in the way' }]);
  });
});
