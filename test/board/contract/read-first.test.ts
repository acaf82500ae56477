/** A SQLite board reads at once until its first write; then its reads take turns with transactions. */

import { setImmediate } from 'node:timers/promises';

import { afterEach, expect, it } from 'vitest';

import type { TaskQuery } from '../../../packages/copse/src/board/port.ts';
import { connect } from '../../../packages/copse/src/board/sqlite/connection.ts';
import { openReadFirst } from '../../../packages/copse/src/board/sqlite/read-first.ts';
import { wholeBoard } from '../../../packages/copse/src/board/whole.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { addTask } from '../../../packages/copse/src/tasks/act/tasks.ts';
import { type BoardPlace, contextOf, newPlace } from '../../support/board/boards.ts';
import { newTask } from '../../support/records/tasks.ts';

let place: BoardPlace;

afterEach(() => place[Symbol.asyncDispose]());

it('shows no read what a transaction of the same process has not committed', async () => {
  place = await newPlace('sqlite');
  const board = await place.open();
  await newTask(board, { title: 'Committed' });
  const titles = async () => (await board.tasks({ order: 'urgent' })).map(({ title }) => title);
  let during: Promise<readonly string[]> | undefined;
  const failed = board.transact(async (transaction) => {
    const inside = {
      ...board,
      transact: (work: (on: typeof transaction) => Promise<unknown>) => work(transaction),
    };
    await addTask(contextOf(inside as never), { title: 'Taken back' });
    // A query writes the pending changes.
    expect(await transaction.tasks({ order: 'urgent' })).toHaveLength(2);
    during = titles();
    await setImmediate();
    throw new Error('taken back');
  });
  await expect(failed).rejects.toThrow('taken back');
  expect(await during).toEqual(['Committed']);
});

it('reads what another connection wrote, before and after its own first write', async () => {
  place = await newPlace('sqlite');
  const [one, other] = [await place.open(), await place.open()];
  const first = await newTask(one, { title: 'First' });
  expect(await other.get('task', first.id)).toEqual(first);
  await newTask(other, { title: 'Second' });
  const third = await newTask(one, { title: 'Third' });
  expect(await other.get('task', third.id)).toEqual(third);
});

it('reads and closes after its writing part could not be loaded, and loads it again for the next write', async () => {
  place = await newPlace('sqlite');
  const { location } = await place.open();
  const connection = connect(location, defaultPolicy.board);
  let failures = 2;
  const load = async () => {
    if (failures-- > 0) throw new Error('not loaded');
    return wholeBoard(connection, defaultPolicy);
  };
  const board = openReadFirst(connection, load) ?? expect.fail('not a board');
  const write = board.transact(async () => {});
  const during = board.tasks({ order: 'urgent' });
  await expect(write).rejects.toThrow('not loaded');
  expect(await during).toEqual([]);
  const [again, last] = await Promise.allSettled([board.transact(async () => {}), board.lastEvent()]);
  expect(again).toMatchObject({ status: 'rejected', reason: { message: 'not loaded' } });
  expect(last).toEqual({ status: 'fulfilled', value: 0 });
  await newTask(board, { title: 'Written' });
  expect(await board.tasks({ order: 'urgent' })).toHaveLength(1);
  await board.close();
  expect(connection.database.isOpen).toBe(false);
});

it('closes its connection while its writing part fails to load', async () => {
  place = await newPlace('sqlite');
  const { location } = await place.open();
  const connection = connect(location, defaultPolicy.board);
  const board = openReadFirst(connection, () => Promise.reject(new Error('not loaded')));
  const [write, close] = await Promise.allSettled([board?.transact(async () => {}), board?.close()]);
  expect(write).toMatchObject({ status: 'rejected', reason: { message: 'not loaded' } });
  expect(close.status).toBe('fulfilled');
  expect(connection.database.isOpen).toBe(false);
});

it('takes an offset only with a limit, which SQLite requires', async () => {
  place = await newPlace('sqlite');
  const board = await place.open();
  // Of two tasks of the same millisecond and priority, either may come first.
  await newTask(board, { title: 'First', priority: 'p5' });
  const second = await newTask(board, { title: 'Second' });
  const page: TaskQuery = { order: 'urgent', limit: 5, offset: 1 };
  expect(await board.tasks(page)).toMatchObject([{ id: second.id }]);
  // @ts-expect-error: there is no such query.
  const refused: TaskQuery = { order: 'urgent', offset: 1 };
  expect(refused.limit).toBeUndefined();
});
