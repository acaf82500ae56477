/** Everything on a board goes out as lines and comes back into an empty board of either engine. */

import { describe, expect, it } from 'vitest';

import { claimNext, claimTask } from '../../../packages/copse/src/tasks/act/claims.ts';
import { parseBoardLine } from '../../../packages/copse/src/board/export-line.ts';
import { addLedgerEntry } from '../../../packages/copse/src/tasks/act/ledger.ts';
import { addPlan } from '../../../packages/copse/src/tasks/act/plans.ts';
import { deleteTasks } from '../../../packages/copse/src/tasks/act/tasks.ts';
import { recordKinds } from '../../../packages/copse/src/board/rules/event.ts';
import type { BoardLine } from '../../../packages/copse/src/board/rules/board-line.ts';
import type { Board } from '../../../packages/copse/src/board/port.ts';
import { definition } from '../../support/records/world.ts';
import { oneOfEverything } from '../../support/records/everything.ts';
import { contextOf, engines, newPlace, person } from '../../support/board/boards.ts';
import { claimant, must, newTask } from '../../support/records/tasks.ts';

async function exported(board: Board): Promise<string[]> {
  const lines: string[] = [];
  await board.exportTo((line) => {
    lines.push(JSON.stringify(line));
    return Promise.resolve();
  });
  return lines;
}

async function* parsed(lines: readonly string[]): AsyncGenerator<BoardLine> {
  for (const line of lines) {
    const read = parseBoardLine(line);
    if (read.kind === 'refused') throw new Error(read.reason);
    yield await Promise.resolve(read.line);
  }
}

async function fill(board: Board): Promise<void> {
  const context = contextOf(board);
  const plan = must(await addPlan(context, { title: 'Plan', body: 'Why\0not \ud800' }));
  const first = await newTask(board, { title: 'First 😀', body: 'NUL \0', plan: plan.id });
  await newTask(board, { title: 'Second', dependsOn: [first.id] });
  const gone = await newTask(board, { title: 'Gone' });
  must(await addLedgerEntry(context, gone.id, { kind: 'learning', text: 'survives its task' }));
  must(await deleteTasks(context, [gone.id], { unlink: false }));
  must(await claimTask(context, first.id, claimant('se-1')));
  await board.transact((transaction) => transaction.record(person, oneOfEverything));
}

const directions = engines.flatMap((from) => engines.map((to) => [from, to] as const));

describe.each(directions)('an export from %s imported into %s', (from, to) => {
  it('is the same board: every record, lease and event', async () => {
    await using source = await newPlace(from);
    await using target = await newPlace(to);
    const original = await source.open();
    await fill(original);
    const lines = await exported(original);
    const copy = await target.open();
    expect(await copy.importFrom(parsed(lines))).toMatchObject({ kind: 'imported' });
    const [, ...sent] = lines;
    const [, ...arrived] = await exported(copy);
    expect(arrived).toEqual(sent);
    const kinds = new Set(sent.map((line) => (JSON.parse(line) as { kind?: string }).kind));
    expect(recordKinds.filter((kind) => !kinds.has(kind))).toEqual([]);
    const dependencies = await copy.tasks({ statuses: ['pending'], order: 'urgent' });
    expect(await copy.dependants(dependencies[0]?.dependsOn[0] as never)).toEqual([dependencies[0]?.id]);
    expect((await newTask(copy, { title: 'And on it goes' })).state.status).toBe('ready');
    const request = { claimant: claimant('se-2'), capabilities: [] };
    expect((await claimNext(contextOf(copy), request))?.title).toBe('And on it goes');
  });
});

// promise: import-verified
describe.each(engines)('an import on %s is refused', (engine) => {
  async function refusal(edit: (lines: string[]) => string[]): Promise<unknown> {
    await using source = await newPlace(engine);
    await using target = await newPlace(engine);
    const original = await source.open();
    await fill(original);
    const copy = await target.open();
    const outcome = await copy.importFrom(parsed(edit(await exported(original))));
    expect(await copy.lastEvent()).toBe(0);
    expect(await copy.tasks({ order: 'urgent' })).toEqual([]);
    return outcome;
  }

  it('when its last events are missing', async () => {
    expect(await refusal((lines) => lines.slice(0, -1))).toMatchObject({
      kind: 'bad_export',
      reason: expect.stringMatching(/does not match its events|incomplete/),
    });
  });

  it('when an event in the middle is missing', async () => {
    const edit = (lines: string[]) => lines.filter((line) => !line.includes('"number":2,'));
    expect(await refusal(edit)).toMatchObject({
      kind: 'bad_export',
      reason: expect.stringContaining('event 2 is missing'),
    });
  });

  it('when a record was changed by hand', async () => {
    const edit = (lines: string[]) =>
      lines.map((line) => (line.startsWith('{"line":"record"') ? line.replace('First', 'Worst') : line));
    expect(await refusal(edit)).toMatchObject({
      kind: 'bad_export',
      reason: expect.stringContaining('The export was edited'),
    });
  });

  it('when a record is there twice and another one is missing', async () => {
    const edit = (lines: string[]) => {
      const records = lines.filter((line) => line.includes('"kind":"ledger"'));
      return lines.map((line) => (line === records[1] ? (records[0] ?? '') : line));
    };
    expect(await refusal(edit)).toMatchObject({
      kind: 'bad_export',
      reason: expect.stringContaining('The export is incomplete'),
    });
  });

  it('when a lease is missing or belongs to another task than the one in progress', async () => {
    const without = (lines: string[]) => lines.filter((line) => !line.startsWith('{"line":"lease"'));
    const forged = (lines: string[]) =>
      lines.map((line) =>
        line.startsWith('{"line":"lease"') ? line.replace('"token":1', '"token":2') : line,
      );
    for (const edit of [without, forged]) {
      expect(await refusal(edit)).toMatchObject({
        kind: 'bad_export',
        reason: expect.stringContaining('leases'),
      });
    }
  });

  it('when a newer Copse wrote it', async () => {
    const edit = ([head = '', ...rest]: string[]) => [
      head.replace(/"version":\d+/, '"version":999'),
      ...rest,
    ];
    expect(await refusal(edit)).toMatchObject({
      kind: 'bad_export',
      reason: expect.stringContaining('newer'),
    });
  });

  it('when it is empty or something else', async () => {
    expect(await refusal(() => [])).toMatchObject({ kind: 'bad_export' });
    expect(await refusal((lines) => lines.slice(1))).toMatchObject({ kind: 'bad_export' });
  });

  it('when the board is not empty', async () => {
    await using place = await newPlace(engine);
    const board = await place.open();
    await newTask(board, { title: 'Mine' });
    expect(await board.importFrom(parsed(await exported(board)))).toMatchObject({
      kind: 'not_empty',
      reason: expect.stringContaining('not empty'),
    });
    expect(await board.tasks({ order: 'urgent' })).toHaveLength(1);
  });
});

describe('an impossible event', () => {
  const created = (change: object) =>
    JSON.stringify({
      line: 'event',
      recorded: {
        number: 1,
        by: { kind: 'person', name: null },
        event: { type: 'task.created', id: 'cp-a1b2', at: 1, status: 'ready', definition, ...change },
      },
    });

  // promise: import-verified
  it('is refused, and a possible one is not', () => {
    expect(parseBoardLine(created({}))).toMatchObject({ kind: 'read' });
    const bad = [
      { id: '--upload-pack=$(touch x)' },
      { definition: { ...definition, title: '\x1b[2J' } },
      { definition: { ...definition, priority: 'banana' } },
      { definition: { ...definition, areas: ['../outside'] } },
      { definition: undefined },
    ];
    for (const change of bad) expect(parseBoardLine(created(change))).toMatchObject({ kind: 'refused' });
  });
});

describe('a line that is not from an export', () => {
  it.each([
    '',
    'x',
    '{}',
    '{"line":"record","kind":"nothing","record":{}}',
    '{"line":"event","recorded":{}}',
    '[]',
  ])('%j is refused with a reason', (line) => {
    expect(parseBoardLine(line)).toMatchObject({ kind: 'refused', reason: expect.stringMatching(/./) });
  });
});
