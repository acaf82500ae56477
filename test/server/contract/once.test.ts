/** Requests with one key at the same time, in one server and in two. */

import { expect, test } from 'vitest';

import { KeyTakenOver, lentBoard } from '../../../packages/copse/src/board/lent.ts';
import type { Board } from '../../../packages/copse/src/board/port.ts';
import type { KeyedRequest } from '../../../packages/copse/src/board/rules/keyed-request.ts';
import { type HttpAnswer, json } from '../../../packages/copse/src/server/answer.ts';
import { explain } from '../../../packages/copse/src/server/explain.ts';
import { Once } from '../../../packages/copse/src/server/once.ts';
import { newPlace } from '../../support/board/boards.ts';
import { newTask } from '../../support/records/tasks.ts';

const wanted = { key: 'k', input: 'input' };

function adding(board: Board, until: Promise<unknown> = Promise.resolve()) {
  return async (keyed: KeyedRequest): Promise<HttpAnswer> => {
    await until;
    try {
      const { id } = await newTask(lentBoard(board, keyed), { title: 'Once' });
      return json({ id }, 201);
    } catch (error) {
      return explain(error, () => {});
    }
  };
}

// promise: server-once
test('a second request in the same server waits for the first, and gets its answer', async () => {
  await using place = await newPlace('sqlite');
  const board = await place.open();
  const once = new Once(board, () => {});
  const { promise, resolve } = Promise.withResolvers<void>();
  const first = once.answer(wanted, adding(board, promise));
  const second = once.answer(wanted, adding(board));
  const other = await once.answer({ ...wanted, input: 'another' }, adding(board));
  expect(other.status).toBe(422);
  resolve();
  expect(await second).toEqual(await first);
  expect((await first).status).toBe(201);
  expect(await board.tasks({ order: 'urgent' })).toHaveLength(1);
});

// promise: server-once
test('a slow request that another server took over changes nothing, and is told to ask again', async () => {
  await using place = await newPlace('sqlite');
  const boards = [await place.open(), await place.open()] as const;
  const [one, two] = boards.map((board) => new Once(board, () => {})) as [Once, Once];
  const { promise, resolve } = Promise.withResolvers<void>();
  const began = Promise.withResolvers<void>();
  const slow = one.answer(wanted, (keyed) => {
    began.resolve();
    return adding(boards[0], promise)(keyed);
  });
  await began.promise;
  const fast = await two.answer(wanted, adding(boards[1]));
  resolve();
  expect(await slow).toMatchObject({ status: 409, headers: { 'retry-after': '1' } });
  expect(await one.answer(wanted, adding(boards[0]))).toMatchObject({ status: 201, body: fast.body });
  expect(await boards[0].tasks({ order: 'urgent' })).toHaveLength(1);
  expect(explain(new KeyTakenOver(), () => {}).status).toBe(409);
});
