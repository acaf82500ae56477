/** Reads that belong together see the board at one event number, while others write. */

import { describe, expect, it } from 'vitest';

import { boardOfRepository } from '../../../packages/copse/src/board/of-repository.ts';
import { engines, newPlace } from '../../support/board/boards.ts';
import { newTask } from '../../support/records/tasks.ts';

describe.each(engines)('reads at once on %s', (engine) => {
  it('do not see what another process writes in between, and do not keep it from writing', async () => {
    await using place = await newPlace(engine);
    const [reading, writing] = [await place.open(), await place.open()];
    await newTask(writing, { title: 'Before' });
    const before = await reading.lastEvent();
    const from = { root: null, rootOf: () => null };
    for (const board of [reading, boardOfRepository(reading, from)]) {
      const seen = await board.readAtOnce(async (at) => {
        const tasks = await at.tasks({ order: 'urgent' });
        await newTask(writing, { title: 'In between' });
        return [tasks.length, (await at.tasks({ order: 'urgent' })).length, await at.lastEvent()];
      });
      const tasks = (await reading.tasks({ order: 'urgent' })).length;
      expect(seen).toEqual([tasks - 1, tasks - 1, (await reading.lastEvent()) - 1]);
    }
    expect(await reading.lastEvent()).toBe(before + 2);
  });
});
