/** In which order a board lists what belongs to a task. */

import { describe, expect, it } from 'vitest';

import { addLedgerEntry } from '../../../packages/copse/src/tasks/act/ledger.ts';
import { timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import { contextOf, engines, newPlace } from '../../support/board/boards.ts';
import { must, newTask } from '../../support/records/tasks.ts';

describe.each(engines)('on %s', (engine) => {
  it('entries of one millisecond are listed in the order in which they were added', async () => {
    await using place = await newPlace(engine);
    const board = await place.open();
    const { id } = await newTask(board, { title: 'Quick' });
    const other = await newTask(board, { title: 'Other' });
    const texts = Array.from({ length: 20 }, (_, at) => `entry ${at}`);
    let now = 5_000;
    const context = { ...contextOf(board), clock: { now: () => timestamp(now) } };
    for (const text of texts) {
      must(await addLedgerEntry(context, id, { kind: 'learning', text }));
      must(await addLedgerEntry(context, other.id, { kind: 'learning', text: 'not this' }));
    }
    // Whoever's clock is behind is still listed by its time.
    now = 4_000;
    must(await addLedgerEntry(context, id, { kind: 'learning', text: 'earlier' }));
    const listed = async () => (await board.list('ledger', { task: id })).map(({ text }) => text);
    expect(await listed()).toEqual(['earlier', ...texts]);
  });
});
