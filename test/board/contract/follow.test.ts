/** Following events: how it ends. */

import { expect, test } from 'vitest';

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
