/** A SQLite board reads at once until its first write; then its reads take turns with transactions. */

import { setImmediate } from 'node:timers/promises';

import { afterEach, expect, it } from 'vitest';

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
