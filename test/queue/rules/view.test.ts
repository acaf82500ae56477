import { describe, expect, it } from 'vitest';

import { brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import type {
  BranchName,
  CommitId,
  LandingId,
  NodeId,
  TaskId,
} from '../../../packages/copse/src/kernel/ids.ts';
import type { Landing } from '../../../packages/copse/src/queue/rules/landing.ts';
import {
  type CheckRun,
  type MergeQueue,
  newQueue,
} from '../../../packages/copse/src/queue/rules/merge-queue.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { usualOf } from '../../../packages/copse/src/queue/rules/view/history.ts';
import type { Batch, QueueState, BatchStage } from '../../../packages/copse/src/queue/rules/decide/state.ts';
import { type QueueRecords, viewQueue } from '../../../packages/copse/src/queue/rules/view/view.ts';
import { rangeText, runText, standingText } from '../../../packages/copse/src/explain/rules/queue.ts';
import { named } from '../../../packages/copse/src/kernel/text.ts';
import { spanText } from '../../../packages/copse/src/kernel/time.ts';

const main = brand<BranchName>('main');
const node = brand<NodeId>('no-1');
const tip = brand<CommitId>('a'.repeat(40));
const MINUTE = 60_000;
const now = timestamp(10_000_000);
const ago = (ms: number) => timestamp(now - ms);
const taskId = (name: string) => brand<TaskId>(`cp-${name}`);
const landingId = (name: string) => brand<LandingId>(`la-${name}`);
const headOf = (name: string) => brand<CommitId>(name.padEnd(40, '0'));

function landing(name: string, more: Partial<Landing> = {}): Landing {
  return {
    id: landingId(name),
    task: taskId(name),
    target: main,
    attempt: null,
    head: headOf(name),
    queuedAt: ago(5 * MINUTE),
    isHotfix: false,
    isUnchecked: false,
    waiting: null,
    state: { status: 'queued', since: ago(5 * MINUTE) },
    ...more,
  };
}

function batch(id: number, names: string, stage: BatchStage, more: Partial<Batch> = {}): Batch {
  const changes = names
    .split(' ')
    .map((name) => ({ landing: landingId(name), task: taskId(name), head: headOf(name) }));
  return { id, changes, stage, wasRed: false, wasSlow: false, ...more };
}

const checking = (run: number): BatchStage => ({ is: 'checking', run, onto: tip, of: null });
const green = (since: number): BatchStage => ({ is: 'green', since });

function run(number: number, names: string, purpose: CheckRun['purpose'], since = ago(20_000)): CheckRun {
  const landings = names === '' ? [] : names.split(' ').map(landingId);
  return { run: number, purpose, commit: tip, landings, slot: number, node, since };
}

interface Scene {
  readonly entries?: readonly (Landing | readonly [Landing, { readonly dependsOn: TaskId }])[];
  readonly state?: Partial<QueueState>;
  readonly queue?: Partial<MergeQueue>;
  readonly more?: Partial<QueueRecords>;
}

/** With its sentences. A check takes 60 s as a rule and 90 s at worst, unless said otherwise. */
function view({ entries = [], state = {}, queue = {}, more = {} }: Scene) {
  const empty = newQueue(main);
  const records: QueueRecords = {
    queue: { ...empty, ...queue, state: { ...empty.state, ...state } },
    entries: entries.map((one) => {
      const [own, { dependsOn }] = 'id' in one ? [one, { dependsOn: null }] : one;
      return { landing: own, title: `Title of ${own.task}`, dependsOn };
    }),
    recent: { greenMs: new Map([['test', [60_000, 60_000, 90_000]]]), runs: 0, landed: [], ended: [] },
    isLed: true,
    commands: ['test'],
    slots: 2,
    now,
    ...more,
  };
  const seen = viewQueue(records, defaultPolicy.landing);
  return {
    ...seen,
    runs: seen.runs.map((one) => Object.assign({}, one, { says: runText(one) })),
    lost: seen.lost.map((one) => Object.assign({}, one, { says: runText(one) })),
    entries: seen.entries.map((entry) => Object.assign({}, entry, { why: standingText(entry.standing) })),
  };
}

const only = (scene: Scene) => {
  const [entry] = view(scene).entries;
  if (entry === undefined) throw new Error('There is an entry');
  return entry;
};

describe('an entry', () => {
  const one = [landing('a')];

  it('that is being checked names its batch and the expected time', () => {
    const { entries } = view({
      entries: [landing('a'), landing('b'), landing('c')],
      state: { batches: [batch(1, 'a b c', checking(7))] },
      queue: { runs: [run(7, 'a b c', 'batch')] },
    });
    expect(entries[1]).toMatchObject({
      position: 2,
      task: 'cp-b',
      state: 'checking',
      why: 'being checked with cp-a and cp-c',
      behind: ['cp-a'],
      // The check has 40 s to go; at worst it takes 90 s, is halved twice and checked once more in the train.
      range: { fromMs: 40_000, toMs: 70_000 + 3 * 90_000 },
    });
  });

  it('whose check ended with its leader is checked again', () => {
    const state = { batches: [batch(1, 'a', checking(7))] };
    expect(only({ entries: one, state })).toMatchObject({
      state: 'again',
      why: 'will be checked again within 5 s',
    });
  });

  it('that takes longer than usual has no expected time in the past', () => {
    const since = ago(200_000);
    const scene = {
      entries: one,
      state: { batches: [batch(1, 'a', checking(7))] },
      queue: { runs: [run(7, 'a', 'batch', since)] },
    };
    expect(only(scene).range).toEqual({ fromMs: 0, toMs: 90_000 });
  });

  it('that waits for a slot names the changes before it, and counts the rounds', () => {
    const names = Array.from({ length: 40 }, (_, at) => `n${at}`);
    const { entries } = view({
      entries: names.map((name) => landing(name)),
      state: { batches: [batch(1, 'n0', checking(7)), batch(2, 'n1', checking(8))] },
      queue: { runs: [run(7, 'n0', 'batch'), run(8, 'n1', 'batch')] },
    });
    expect(entries[2]).toMatchObject({ state: 'waiting', why: 'waits for a free slot' });
    expect(entries[2]?.range?.fromMs).toBe(40_000 + 60_000);
    expect(entries[5]).toMatchObject({
      why: 'waits for a free slot, behind cp-n2, cp-n3 and cp-n4',
      behind: ['cp-n0', 'cp-n1', 'cp-n2', 'cp-n3', 'cp-n4'],
    });
    // 13 in a batch, two slots: after 26 others it is one round later.
    expect(entries[27]?.range?.fromMs).toBe(40_000 + 60_000);
    expect(entries[28]?.range?.fromMs).toBe(40_000 + 120_000);
    for (const { range } of entries) expect(range?.toMs).toBeGreaterThanOrEqual(range?.fromMs ?? 0);
  });

  it('with a free slot waits for no other', () => {
    expect(only({ entries: one })).toMatchObject({
      why: 'waits for its check to start',
      range: { fromMs: 60_000 },
    });
  });

  it.each([
    [
      'again',
      { is: 'waiting', as: 'again' },
      {},
      'will be checked again with cp-b as soon as a slot is free',
    ],
    [
      'again',
      { is: 'waiting', as: 'again' },
      { wasRed: true },
      'failed its checks once; Copse checks it again, because a check may be flaky',
    ],
    [
      'half',
      { is: 'waiting', as: 'half' },
      {},
      'will be checked next with cp-b, as the first half of a batch that failed',
    ],
    [
      'half',
      { is: 'waiting', as: 'second_half', of: 9 },
      {},
      'waits for the first half of a batch that failed; its own half with cp-b will be checked next',
    ],
    [
      'again',
      { is: 'accused', run: 3, verdict: 'red', onto: tip },
      {},
      'failed its checks with cp-b; Copse checks main alone before it hands a task back',
    ],
    [
      'handed_back',
      { is: 'guilty', run: 3, verdict: 'red' },
      {},
      'failed its checks (retried once) and is handed back',
    ],
  ] as const)('of a batch that is %s: %o', (state, stage, marks, why) => {
    const entries = [landing('a'), landing('b')];
    expect(only({ entries, state: { batches: [batch(1, 'a b', stage, marks)] } })).toMatchObject({
      state,
      why,
    });
  });

  it('that passed names the running probe of the train, and the changes before it', () => {
    const { entries, train } = view({
      entries: [landing('a'), landing('b'), landing('c')],
      state: {
        batches: [batch(1, 'c', green(4)), batch(2, 'a b', green(3))],
        probes: [{ run: 7, batches: [2, 1], commit: tip, red: null }],
      },
      queue: { runs: [run(7, 'a b c', 'probe')] },
    });
    expect(train).toBe(3);
    expect(entries[2]).toMatchObject({
      state: 'green',
      why: 'passed; the train up to cp-c is being checked',
      behind: ['cp-a', 'cp-b'],
      range: { fromMs: 40_000, toMs: 70_000 + 90_000 },
    });
  });

  it('that passed waits for a hotfix', () => {
    const { entries } = view({
      entries: [landing('h', { isHotfix: true }), landing('a')],
      state: { batches: [batch(1, 'a', green(3)), batch(2, 'h', checking(7))] },
      queue: { runs: [run(7, 'h', 'alone')] },
    });
    expect(entries[0]).toMatchObject({ why: 'being checked first and alone', isHotfix: true });
    expect(entries[1]).toMatchObject({
      state: 'green',
      why: 'passed; the hotfix cp-h lands first',
      behind: ['cp-h'],
    });
  });

  it('whose landing is journalled is landing, whatever its other fields say', () => {
    const intent = { oldTip: tip, newTip: tip, commit: tip, isVerified: true };
    const state = { status: 'checking', since: now, candidate: tip, intent } as const;
    expect(only({ entries: [landing('a', { state, waiting: { kind: 'no_slot' } })] })).toMatchObject({
      state: 'landing',
      why: 'landing now',
    });
  });

  it('with a new head has no result of the old one', () => {
    const entries = [landing('a', { head: headOf('newer') })];
    const state = { batches: [batch(1, 'a', { is: 'guilty', run: 3, verdict: 'red' })] };
    expect(only({ entries, state })).toMatchObject({ state: 'waiting' });
  });

  it.each([
    [
      'it depends on something',
      { entries: [[landing('a'), { dependsOn: taskId('d') }]] },
      'waits for cp-d, which it depends on',
    ],
    [
      'the queue lands nothing',
      { entries: one, queue: { paused: { accept: null, land: { since: ago(1), reason: 'release' } } } },
      'waits: the queue is paused (release)',
    ],
    [
      'it came after the queue stopped accepting',
      { entries: one, queue: { paused: { land: null, accept: { since: ago(6 * MINUTE), reason: null } } } },
      'waits: the queue accepts no new tasks',
    ],
    [
      'a checkout is in the way',
      {
        entries: [
          landing('a', { waiting: { kind: 'checkout_changed', checkout: '/x', files: ['a.txt', 'b.txt'] } }),
        ],
      },
      'waits: the checkout at /x has uncommitted changes in a.txt and 1 more',
    ],
    [
      'the remote refuses',
      { entries: [landing('a', { waiting: { kind: 'push_failed', target: main, detail: 'protected' } })] },
      'waits: main could not be pushed: protected',
    ],
    [
      'the whole queue is stalled for the same reason',
      {
        entries: [landing('a', { waiting: { kind: 'checks_unavailable', detail: 'no disk' } })],
        queue: { stalled: { since: ago(1), reason: { kind: 'checks_unavailable', detail: 'no disk' } } },
      },
      'waits: the queue is stalled',
    ],
  ] as const satisfies readonly (readonly [string, Scene, string])[])(
    'is held, without an expected time, when %s',
    (_when, scene, why) => {
      expect(only(scene)).toMatchObject({ state: 'held', why, range: null });
    },
  );

  it('that was queued before a pause of accepting continues', () => {
    const paused = { land: null, accept: { since: ago(MINUTE), reason: null } };
    expect(only({ entries: one, queue: { paused } })).toMatchObject({ state: 'waiting' });
  });

  it.each([
    { kind: 'paused', comment: 'release' } as const,
    { kind: 'not_accepted', comment: null } as const,
  ])(
    'whose queue was resumed, and that no leader has looked at since, waits for a leader: $kind',
    (waiting) => {
      const entries = [landing('a', { waiting })];
      const queue = { stalled: { since: ago(1), reason: waiting } };
      const resumed = view({ entries, queue, more: { isLed: false } });
      expect(resumed.stalled).toBeNull();
      expect(resumed.entries).toMatchObject([
        { why: 'waits: no orchestrator is running here (copse merge cp-a lands it now)' },
      ]);
    },
  );

  it('that a person lets land without checks lands within 5 s', () => {
    expect(only({ entries: [landing('a', { isUnchecked: true })] })).toMatchObject({
      isUnchecked: true,
      why: 'lands without checks within 5 s',
    });
  });
});

describe('time', () => {
  it.each([
    ['nobody leads', { more: { isLed: false } }],
    [
      'no check was ever seen green',
      { more: { recent: { greenMs: new Map(), runs: 0, landed: [], ended: [] } } },
    ],
    ['the queue is stalled', { queue: { stalled: { since: ago(1), reason: { kind: 'no_slot' } } } }],
    ['checks cannot run', { state: { trouble: { reason: 'no disk', times: 1, until: now + 1 } } }],
    ['the target itself is red', { state: { audit: { tip, verdict: 'red', run: 1, tried: [] } } }],
  ] as const satisfies readonly (readonly [string, Scene])[])('is not expected when %s', (_when, scene) => {
    const shared: Scene = scene;
    const state = { batches: [batch(1, 'a', checking(7))], ...shared.state };
    const queue = { runs: [run(7, 'a', 'batch')], ...shared.queue };
    expect(only({ entries: [landing('a')], ...shared, state, queue }).range).toBeNull();
  });

  it('of several checks is their sum, and unknown if one is', () => {
    const greenMs = new Map([
      ['test', [10, 20, 30]],
      ['lint', [5]],
    ]);
    expect(usualOf(['test', 'lint'], { greenMs })).toEqual({ medianMs: 25, slowMs: 35 });
    expect(usualOf(['test', 'types'], { greenMs })).toBeNull();
    expect(usualOf([], { greenMs })).toBeNull();
  });

  it('is rounded for people', () => {
    expect([0, 800, 12_400, 119_000, 120_000, 59 * MINUTE, 120 * MINUTE, 135 * MINUTE].map(spanText)).toEqual(
      ['0 s', '800 ms', '12 s', '119 s', '2 min', '59 min', '2 h', '2 h 15 min'],
    );
    expect(rangeText({ fromMs: 30_000, toMs: 180_000 })).toBe('30 s to 3 min');
    expect(rangeText({ fromMs: 27, toMs: 258 })).toBe('27 to 258 ms');
    expect(rangeText({ fromMs: 3_900_000, toMs: 8_000_000 })).toBe('65 min to 2 h 13 min');
    expect(rangeText({ fromMs: 130_000, toMs: 140_000 })).toBe('about 2 min');
  });
});

describe('a queue', () => {
  it('without a leader runs nothing, whatever its last leader left', () => {
    const queue = { runs: [run(7, 'a', 'batch')] };
    const state = { batches: [batch(1, 'a', checking(7))] };
    const seen = view({ entries: [landing('a')], queue, state, more: { isLed: false } });
    expect(seen).toMatchObject({ isLed: false, runs: [], slots: { busy: 0, of: 2 } });
    expect(seen.lost).toMatchObject([{ slot: 7, says: 'cp-a' }]);
    const why =
      'lost its check when the orchestrator ended; the next one checks it again (copse merge cp-a lands it now)';
    expect(seen.entries[0]).toMatchObject({ state: 'again', why, range: null });
    expect(view({ entries: [landing('b')], queue, state, more: { isLed: false } }).entries[0]).toMatchObject({
      state: 'waiting',
      why: 'waits: no orchestrator is running here (copse merge cp-b lands it now)',
    });
  });

  it('does not show a check as running whose process has ended', () => {
    const queue = { runs: [run(7, 'a', 'batch'), run(8, 'b', 'batch')] };
    const seen = view({ entries: [landing('a'), landing('b')], queue, more: { lost: new Set([7]) } });
    expect([seen.runs, seen.lost].map((runs) => runs.map(({ slot }) => slot))).toEqual([[8], [7]]);
    expect(seen.slots.busy).toBe(1);
  });

  it('names no change that has landed or left, though its batch still does', () => {
    const state = { batches: [batch(1, 'a b', green(1)), batch(2, 'c d', green(2))] };
    const seen = view({ entries: [landing('b'), landing('d')], state });
    expect(seen.train).toBe(2);
    expect(seen.entries[1]).toMatchObject({ behind: ['cp-b'] });
    const checked = {
      state: { batches: [batch(1, 'a b', checking(7))] },
      queue: { runs: [run(7, 'a b', 'batch')] },
    };
    expect(only({ ...checked, entries: [landing('b')] }).why).toBe('being checked');
  });

  it('names the purpose of each check', () => {
    const queue = {
      runs: [
        run(1, 'a b c d e', 'batch'),
        run(2, 'a b f', 'batch'),
        run(3, 'g', 'again'),
        run(4, 'h i', 'half'),
        run(5, 'j', 'second_half'),
        run(6, 'k l', 'probe'),
        run(7, '', 'target'),
        run(8, 'm', 'alone'),
      ],
    };
    const state = {
      batches: [
        batch(11, 'a b c d e', checking(1)),
        batch(12, 'f', checking(2)),
        batch(13, 'g', checking(3)),
        batch(14, 'h i', checking(4)),
        batch(15, 'j', checking(5)),
        batch(16, 'k l', green(1)),
        batch(18, 'm', checking(8)),
      ],
    };
    expect(view({ queue, state, more: { slots: 8 } }).runs.map(({ says }) => says)).toEqual([
      'a batch of 5: cp-a, cp-b, cp-c and 2 more',
      'cp-f on top of 2 changes in flight',
      'cp-g, 2nd run',
      'half of a failed batch: cp-h and cp-i',
      'the other half of a failed batch: cp-j',
      'the train up to cp-l (2 changes)',
      'main alone, with nothing merged into it',
      'cp-m alone',
    ]);
  });

  it('without checks says that none are set, and has no slots', () => {
    const seen = view({ entries: [landing('a')], more: { commands: [] } });
    expect(seen).toMatchObject({ hasChecks: false, slots: { busy: 0, of: 0 } });
    expect(seen.entries[0]).toMatchObject({ why: 'lands within 5 s', range: null });
  });

  it('counts recent landings, their duration, and the checks they cost', () => {
    const landed = (name: string, minutes: number, tookMs: number, isVerified = true) => ({
      landing: landingId(name),
      task: taskId(name),
      commit: tip,
      at: ago(minutes * MINUTE),
      tookMs,
      isVerified,
    });
    const recent = {
      greenMs: new Map(),
      runs: 2,
      landed: [
        landed('a', 61, 1_000),
        landed('b', 59, 2_000),
        landed('c', 2, 9_000),
        landed('d', 1, 3_000, false),
      ],
      ended: [],
    };
    const entries = [landing('x', { queuedAt: ago(MINUTE) }), landing('y', { queuedAt: ago(9 * MINUTE) })];
    const seen = view({ entries, more: { recent } });
    expect(seen.figures).toEqual({
      oldestMs: 9 * MINUTE,
      landedLastHour: 3,
      p50Ms: 2_000,
      p95Ms: 9_000,
      // The last one landed without checks.
      checksPerLanded: 2 / 3,
    });
    expect(seen.landed.map(({ task }) => task)).toEqual(['cp-d', 'cp-c', 'cp-b', 'cp-a']);
    expect(view({}).figures).toMatchObject({ oldestMs: null, p50Ms: null, checksPerLanded: null });
  });
});

it('names three at most', () => {
  const names = ['a', 'b', 'c', 'd'].map(taskId);
  expect([1, 2, 3, 4].map((count) => named(names.slice(0, count)))).toEqual([
    'cp-a',
    'cp-a and cp-b',
    'cp-a, cp-b and cp-c',
    'cp-a, cp-b, cp-c and 1 more',
  ]);
});
