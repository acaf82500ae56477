/** Following events: how it ends. */

import { expect, test } from 'vitest';

import { eventsSoFar } from '../../../packages/copse/src/board/events-so-far.ts';
import { followEvents } from '../../../packages/copse/src/board/follow.ts';
import { type EventNumber, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { newPlace } from '../../support/board/boards.ts';
import { newTask } from '../../support/records/tasks.ts';

test('a signal that aborts while an event is being handled ends it at once', async () => {
  await using place = await newPlace('sqlite');
  const board = await place.open();
  await newTask(board, { title: 'One' });
  const stop = new AbortController();
  const events = followEvents(board, {
    after: brand<EventNumber>(0),
    signal: stop.signal,
    // Longer than any test may take.
    policy: { ...defaultPolicy.board, followPollMs: 3_600_000 },
  });
  expect((await events.next()).value).toMatchObject({ number: 1 });
  stop.abort();
  expect(await events.next()).toEqual({ done: true, value: undefined });
}, 20_000);

test('events of any size are told, though a page of them has a limited size', async () => {
  await using place = await newPlace('sqlite');
  const board = await place.open();
  const body = 'x'.repeat(2_500_000);
  for (const title of ['One', 'Two', 'Three']) await newTask(board, { title, body });
  const told: number[] = [];
  const stop = new AbortController();
  const after = brand<EventNumber>(0);
  for await (const { number } of followEvents(board, {
    after,
    signal: stop.signal,
    policy: defaultPolicy.board,
  })) {
    told.push(number);
    if (told.length === 3) stop.abort();
  }
  expect(told).toEqual([1, 2, 3]);
  const read: number[] = [];
  for await (const { number } of eventsSoFar(board, { after })) read.push(number);
  expect(read).toEqual([1, 2, 3]);
}, 20_000);
