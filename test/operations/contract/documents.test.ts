/**
 * Every operation on a real board: what its command prints with `--json`, and what a caller without a command line gets, are
 * one document, in the shape that the operation promises.
 */

import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { beforeAll, describe, expect, test } from 'vitest';

import { openEngine } from '../../../packages/copse/src/board/open.ts';
import { openContext } from '../../../packages/copse/src/compose/open.ts';
import { type NodeId, brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { OperationFailed } from '../../../packages/copse/src/operations/failure.ts';
import { operations } from '../../../packages/copse/src/operations/registry.ts';
import { answer, copse, git, newArea, printed } from '../../support/cli.ts';
import { someFacts } from '../../support/machines/nodes.ts';
import { operationNamed, perform } from '../../support/operations/perform.ts';
import { OwnTmux, hasTmux } from '../../support/server/output.ts';
import { oneOfEach, tell } from '../../support/records/stories.ts';
import { newProject, taken } from '../../support/workspaces/worktrees.ts';
import type { Call, ChangingCalls, KnownRecords, ReadingCalls } from './call.ts';
import { changingAgents, prepareAgents, readingAgents } from './agent-calls.ts';
import { changingIntake, readingIntake } from './intake-calls.ts';
import { changingSetup, readingSetup } from './setup-calls.ts';
import { changingWorktrees, prepareWorktrees, readingWorktrees } from './worktree-calls.ts';

const area = newArea();
const tmux = hasTmux ? new OwnTmux(area, 'after all') : undefined;
let at: { readonly cwd: string };
const known: KnownRecords = {
  artifact: '',
  item: '',
  work: '',
  job: '',
  finished: '',
  stuck: '',
  attempt: '',
  report: '',
  queued: '',
  exported: '',
};
const ids = oneOfEach.map(({ id }) => `cp-${id}`);

beforeAll(async () => {
  at = newProject(area);
  writeFileSync(path.join(at.cwd, 'TODO.md'), '- [ ] Write the guide\n');
  writeFileSync(
    path.join(at.cwd, 'copse.yml'),
    [
      'agents: { c: { command: "true", schedules: { nightly: { type: cron, cron: "0 6 1 1 *", prompt: Tidy },',
      '  yearly: { type: cron, cron: "0 7 1 1 *", time_zone: Europe/Berlin, prompt: Look } } } }',
      'sources: { lists: { type: markdown, files: [TODO.md] } }',
      '',
    ].join('\n'),
  );
  git(at.cwd, 'add', '.');
  git(at.cwd, 'commit', '--quiet', '--message=lists');
  await printed(['list'], at);
  await tell(at.cwd, oneOfEach, { plan: 'pl-aaaa' });
  await tell(at.cwd, [{ ...oneOfEach[4], id: 'nnnn', title: 'Sent back', minutes: 3, agent: 'c' }]);
  await joinNode();
  await answer(['edit', 'cp-jjjj', '--plan', 'pl-aaaa'], at);
  await answer(['ledger', 'add', 'learning', 'x', '--task', 'cp-dddd'], at);
  const plot = ['artifact', 'add', 'https://example.com/plot.png', '--task', 'cp-dddd'];
  ({ id: known.artifact } = await answer<{ id: string }>(plot, at));
  const { sources } = await answer<Synced>(['sources', 'sync', '--dry-run'], at);
  known.item = `lists#${sources[0]?.steps[0]?.item ?? ''}`;
  ({ task: known.work } = await taken('Worked on', at));
  ({ job: known.job } = await answer<{ job: string }>(['trigger', 'c', '--prompt', 'Begin'], at));
  await prepareWorktrees(at);
  known.queued = await queueOne();
  known.exported = await printed(['export'], at);
  writeFileSync(path.join(area, 'board.jsonl'), known.exported);
  // After the export, which would name the file that it adds.
  await prepareAgents(known, at, tmux);
});

/** A task whose commit waits in the queue. */
async function queueOne(): Promise<string> {
  const { task, worktree } = await taken('Finished', at);
  writeFileSync(path.join(worktree, `${task}.txt`), 'new\n');
  git(worktree, 'add', '.');
  git(worktree, 'commit', '--quiet', '--message=new');
  await printed(['finish'], { ...at, cwd: worktree });
  await answer(['queue', 'retry', task], at);
  return task;
}

interface EventsDocument {
  readonly events: readonly { readonly number: number }[];
  readonly cursor: string;
  readonly hasMore: boolean;
}

interface Synced {
  readonly sources: readonly { readonly steps: readonly { readonly item: string }[] }[];
}

async function joinNode(): Promise<void> {
  const { board } = await openContext({ cwd: at.cwd, env: {} });
  const joined = { id: brand<NodeId>('n-one'), at: timestamp(Date.now()), name: 'one', facts: someFacts };
  const silent = { ...joined, id: brand<NodeId>('n-two'), name: 'two' };
  await board.transact((change) =>
    change.record({ kind: 'person', name: null }, [
      { type: 'node.joined', ...joined },
      { type: 'node.joined', ...silent },
    ]),
  );
  await board.seeNode(joined.id);
  await board.close();
  // As if it had just been heard from, however long these tests take.
  const file = path.join(at.cwd, '.copse', 'board.db');
  const engine = await openEngine({ engine: 'sqlite', file }, defaultPolicy.board);
  await engine.db
    .updateTable('nodes')
    .set({ seen_at: Date.now() + 3_600_000 })
    .where('id', '=', joined.id)
    .execute();
  await engine.close();
}

const reading: ReadingCalls = {
  ...readingAgents(known),
  ...readingIntake(known),
  ...readingSetup,
  ...readingWorktrees,
  'board.status': () => [{ argv: ['status'], input: {} }],
  'inbox.list': () => [{ argv: ['inbox'], input: {} }],
  'task.list': () => [
    { argv: ['list', '--all'], input: { all: true } },
    {
      argv: ['ls', '--status', 'stuck,ready', '--sort', 'age', '--limit', '2'],
      input: { status: ['stuck', 'ready'], sort: 'age', limit: 2 },
    },
    { argv: ['list', '--plan', 'pl-a'], input: { plan: 'pl-a' } },
  ],
  'task.show': () => [...ids, known.work].map((task) => ({ argv: ['show', task], input: { task } })),
  'task.why': () => [...ids, known.work].map((task) => ({ argv: ['why', task], input: { task } })),
  'question.show': () => ['cp-aaaa', 'cp-bbbb'].map((task) => ({ argv: ['answer', task], input: { task } })),
  'plan.show': () => [{ argv: ['plan', 'show', 'pl-aaaa'], input: { plan: 'pl-aaaa' } }],
  'plan.list': () => [{ argv: ['prd', 'list'], input: {} }],
  'ledger.list': () => [{ argv: ['ledger', 'list', 'cp-dddd'], input: { task: 'cp-dddd' } }],
  'artifact.list': () => [
    { argv: ['artifact', 'list', '--all'], input: { all: true } },
    { argv: ['artifact', 'list', 'cp-aaaa'], input: { task: 'cp-aaaa' } },
  ],
  'artifact.show': () => [
    { argv: ['artifact', 'show', known.artifact], input: { artifact: known.artifact } },
  ],
  'event.list': () => [
    { argv: ['events', '--last', '60'], input: { last: 60, limit: 60 }, lines: 'events' },
    { argv: ['events', '--task', 'cp-kkkk', '--after', '1:3'], input: { task: 'cp-kkkk' }, lines: 'events' },
  ],
  'node.list': () => [
    { argv: ['node', 'list'], input: {} },
    { argv: ['node', 'list', '--all'], input: { all: true } },
  ],
  'node.show': () => [{ argv: ['node', 'show', 'one'], input: { node: 'one' } }],
  'node.preview_drain': () => [{ argv: ['node', 'drain', 'n-one', '--preview'], input: { node: 'n-one' } }],
  'queue.list': () => [
    { argv: ['queue'], input: {} },
    { argv: ['queue', '--target', 'main'], input: { target: 'main' } },
  ],
  'review.list': () => [{ argv: ['review'], input: {} }],
  'review.show': () => [known.queued, 'cp-eeee'].map((task) => ({ argv: ['review', task], input: { task } })),
  'radar.show': () => [
    { argv: ['radar'], input: {} },
    { argv: ['radar', known.work], input: { task: known.work } },
  ],
};

/** In this order: a later call may need what an earlier one did. */
const changing: ChangingCalls = {
  'task.add': () => ({
    argv: ['add', 'One more', '--body', 'Why', '--priority', 'p4', '--depends', 'cp-hhhh', '--agent', 'c'],
    input: { title: 'One more', body: 'Why', priority: 'p4', dependsOn: ['cp-hhhh'], agent: 'c' },
  }),
  'task.add_item': () => ({ argv: ['add', '--item', known.item], input: { item: known.item } }),
  'task.edit': () => ({
    argv: ['edit', 'cp-hhhh', '--priority', 'p5', '--no-agent', '--area', 'src/**'],
    input: { task: 'cp-hhhh', priority: 'p5', agent: null, areas: ['src/**'] },
  }),
  'task.move': () => ({ argv: ['move', 'cp-hhhh', '--to', 'one'], input: { task: 'cp-hhhh', to: 'one' } }),
  'question.answer': () => ({
    argv: ['answer', 'cp-bbbb', 'deny', '--message', 'No', '--question', 'q1'],
    input: { task: 'cp-bbbb', isAllowed: false, message: 'No', question: 'q1' },
  }),
  'task.pause': () => ({ argv: ['pause', known.work], input: { task: known.work } }),
  'task.resume': () => ({
    argv: ['resume', known.work, '--message', 'Go on', '--command', 'sleep 60'],
    input: { task: known.work, message: 'Go on', command: 'sleep 60' },
  }),
  'task.cancel': () => ({
    argv: ['cancel', known.work, '--reason', 'Not now'],
    input: { task: known.work, reason: 'Not now' },
  }),
  'task.restart': () => ({ argv: ['restart', 'cp-gggg'], input: { task: 'cp-gggg', answer: 'Yes' } }),
  'task.delete': () => ({
    argv: ['rm', known.work, 'cp-mmmm', '--unlink', '--yes'],
    input: { tasks: [known.work, 'cp-mmmm'], unlink: true },
  }),
  'plan.add': () => ({ argv: ['plan', 'add', 'Two'], input: { title: 'Two', body: '' } }),
  'ledger.add': () => ({
    argv: ['ledger', 'add', 'handoff', 'Done', '--task', 'cp-dddd'],
    input: { task: 'cp-dddd', kind: 'handoff', text: 'Done' },
  }),
  ...changingAgents(known),
  ...changingIntake,
  ...changingSetup,
  ...changingWorktrees,
  'board.backup': () => ({ argv: ['board', 'backup'], input: {} }),
  'board.import': () => ({
    argv: ['import', path.join(area, 'board.jsonl')],
    input: { text: known.exported },
    at: newProject(area),
  }),
  'node.drain': () => ({
    argv: ['node', 'drain', 'one', '--within', '5m'],
    input: { node: 'one', withinMs: 300_000 },
  }),
  'node.resume': () => ({ argv: ['node', 'resume', 'one'], input: { node: 'one' } }),
  'node.rename': () => ({ argv: ['node', 'rename', 'one', 'uno'], input: { node: 'one', name: 'uno' } }),
  'node.leave': () => ({ argv: ['node', 'leave', 'two'], input: { node: 'two' } }),
  'queue.front': () => ({ argv: ['queue', 'front', known.queued], input: { tasks: [known.queued] } }),
  'queue.cancel': () => ({
    argv: ['queue', 'cancel', known.queued, '--reason', 'Not now'],
    input: { tasks: [known.queued], reason: 'Not now', dryRun: false },
  }),
  'queue.pause': () => ({
    argv: ['queue', 'pause', '--accept', '--reason', 'Release'],
    input: { accept: true, reason: 'Release', target: 'main' },
  }),
  'review.approve': () => ({
    argv: ['review', known.queued, '--approve'],
    input: { task: known.queued, head: '1f2e3d4' },
  }),
  'queue.retry': () => ({ argv: ['queue', 'retry', known.queued], input: { tasks: [known.queued] } }),
  'queue.resume': () => ({ argv: ['queue', 'resume', '--target', 'main'], input: { target: 'main' } }),
  'task.merge': () => ({
    argv: ['merge', known.queued, '--now'],
    input: { tasks: [known.queued], now: true, waitSeconds: 5 },
  }),
  'review.send_back': () => ({
    argv: ['review', 'cp-nnnn', '--send-back', 'Please add a test'],
    input: { task: 'cp-nnnn', comment: 'Please add a test', command: 'true' },
  }),
};

test('every operation is called here', () => {
  const called = [...Object.keys(reading), ...Object.keys(changing)];
  expect(called.toSorted()).toEqual(operations.map(({ name }) => name).toSorted());
});

describe('an operation that reads returns what its command prints', () => {
  test.each(Object.keys(reading))('%s', async (name) => {
    for (const call of reading[name]?.() ?? []) {
      const { argv, input, lines } = call;
      const document = await documentOf(call);
      const own = (await perform(name, input, at)) as Readonly<Record<string, unknown>>;
      expect({ argv, is: timeless(document) }).toEqual({ argv, is: timeless(lines ? own[lines] : own) });
    }
  });
});

async function answers(argv: readonly string[]): Promise<readonly unknown[]> {
  const lines = (await printed([...argv, '--json'], at)).trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as unknown);
}

async function documentOf({ argv, lines, mayFail, at: from = at }: Call): Promise<unknown> {
  if (lines) return answers(argv);
  if (!mayFail) return answer<object>(argv, from);
  return JSON.parse((await copse([...argv, '--json'], from)).stdout);
}

/** Without the time of the look, and without words that count seconds or free bytes. */
function timeless(document: unknown): unknown {
  return JSON.parse(
    JSON.stringify(document, (key, value: unknown) => {
      if (key === 'at' || key === 'oldestMs') return '';
      return typeof value === 'string' ? value.replaceAll(/\b\d+(\.\d)? ?(s|m|h|d|min|GB)\b/g, '…') : value;
    }),
  );
}

describe('the command of an operation that changes something prints its shape', () => {
  const names = Object.keys(changing).filter((name) => hasTmux || name !== 'session.take_over');
  test.each(names)('%s', async (name) => {
    const call = changing[name]?.() ?? expect.fail(name);
    const { output } = await operationNamed(name).shape();
    output.parse(await documentOf(call));
  });
});

describe('a caller without a command line', () => {
  test('changes the board through the same operations', async () => {
    const added = (await perform('task.add', { title: 'By a program', priority: 'p5' }, at)) as {
      id: string;
    };
    expect(await answer(['show', added.id], at)).toMatchObject({ title: 'By a program', priority: 'p5' });
    await perform('task.cancel', { task: added.id, reason: 'No more' }, at);
    expect(await answer(['show', added.id], at)).toMatchObject({ status: 'cancelled', reason: 'No more' });
  });

  test('waits for a landing only as long as it says; the task stays in the queue', async () => {
    const task = await queueOne();
    const reason = 'it did not land within 0 s';
    expect(await perform('task.merge', { tasks: [task], waitSeconds: 0 }, at)).toEqual({
      landings: [{ landing: 'waits', task, reason }],
    });
    expect(await answer(['show', task], at)).toMatchObject({ status: 'landing' });
  });

  test('reads the events in pages, each of which says where the next begins', async () => {
    const numbers: number[] = [];
    for (let after = '1:0'; ;) {
      const page = (await perform('event.list', { after, limit: 40 }, at)) as EventsDocument;
      expect(page.events.length).toBeLessThanOrEqual(40);
      numbers.push(...page.events.map(({ number }) => number));
      if (!page.hasMore) break;
      after = page.cursor;
    }
    expect(numbers.length).toBeGreaterThan(80);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    await expect(perform('event.list', { after: 'yesterday' }, at)).rejects.toMatchObject({
      failure: { code: 'invalid', reason: 'after must be an event number, not "yesterday".' },
    });
  });

  test('imports the text of an export into an empty board only', async () => {
    const empty = newProject(area);
    const text = known.exported;
    await perform('board.import', { text }, empty);
    // The first line has the id of the board.
    const [, ...imported] = (await printed(['export'], empty)).split('\n');
    expect(imported).toEqual(text.split('\n').slice(1));
    await expect(perform('board.import', { text }, empty)).rejects.toMatchObject({
      failure: { code: 'wrong_status', reason: expect.stringContaining('is not empty') },
    });
    await expect(perform('board.import', { text: 'x' }, newProject(area))).rejects.toMatchObject({
      failure: { reason: 'Line 1 of the text is not part of an export: it is not JSON.' },
    });
  });

  test('is refused with the reason and the next command of the command line', async () => {
    const refused = perform('task.pause', { task: 'cp-kkkk' }, at);
    await expect(refused).rejects.toThrow(OperationFailed);
    await expect(refused).rejects.toMatchObject({
      failure: { code: 'wrong_status', reason: 'Cannot pause cp-kkkk: it is done.', task: 'cp-kkkk' },
    });
    await expect(perform('task.show', {}, at)).rejects.toMatchObject({
      failure: { code: 'invalid', next: ['copse list'] },
    });
  });

  test.each(operations)('$name refuses a field that it does not know', async ({ name, shape }) => {
    const call = changing[name]?.() ?? reading[name]?.()[0] ?? expect.fail(name);
    const { input } = await shape();
    expect(input.safeParse(call.input)).toMatchObject({ success: true });
    expect(input.safeParse({ ...call.input, tsk: 'x' })).toMatchObject({
      success: false,
      error: { issues: [{ code: 'unrecognized_keys', keys: ['tsk'] }] },
    });
  });
});
