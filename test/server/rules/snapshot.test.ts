/** The kept text of a snapshot. */

import { expect, test } from 'vitest';

import { Snapshots } from '../../../packages/copse/src/server/snapshot.ts';
import { newPlace } from '../../support/board/boards.ts';

test('a snapshot is read once for each event number, and again after the server of the board was replaced', async () => {
  await using place = await newPlace('sqlite');
  let looks = 0;
  const snapshots = new Snapshots(await place.open(), () => Promise.resolve({ looks: (looks += 1) }));
  for (const term of [1, 1, 2, 2]) await snapshots.read(term);
  expect(looks).toBe(2);
});
