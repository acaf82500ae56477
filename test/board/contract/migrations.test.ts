/** Boards of earlier versions come along with everything on them; boards of later ones are left alone. */

import { readdirSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import type { Engine } from '../../../packages/copse/src/board/sql/engine.ts';
import { migrate } from '../../../packages/copse/src/board/sql/migrate.ts';
import { migrations } from '../../../packages/copse/src/board/migrations/index.ts';
import { openBoard, openEngine } from '../../../packages/copse/src/board/open.ts';
import type { BoardTables } from '../../../packages/copse/src/board/sql/schema.ts';
import { replay } from '../../../packages/copse/src/board/rules/event.ts';
import { type EventNumber, type TaskId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { BoardTooNew } from '../../../packages/copse/src/board/port.ts';
import { type BoardPlace, engines, newPlace } from '../../support/board/boards.ts';
import { newTask } from '../../support/records/tasks.ts';
import { version1 } from './samples/version-1.ts';
import { version2 } from './samples/version-2.ts';
import { version3 } from './samples/version-3.ts';
import { version4 } from './samples/version-4.ts';
import { version5 } from './samples/version-5.ts';
import { version6 } from './samples/version-6.ts';
import { version7 } from './samples/version-7.ts';
import { version8 } from './samples/version-8.ts';

const samples: Readonly<Record<number, Readonly<Record<string, object>>>> = {
  1: version1,
  2: version2,
  3: version3,
  4: version4,
  5: version5,
  6: version6,
  7: version7,
  8: version8,
};
const fresh = { id: 'fresh', at: 0 };

async function withEngine<T>(place: BoardPlace, work: (engine: Engine) => Promise<T>): Promise<T> {
  const engine = await openEngine(place.address, defaultPolicy.board);
  try {
    return await work(engine);
  } finally {
    await engine.close();
  }
}

async function leaveBoardOf(version: number, place: BoardPlace): Promise<void> {
  await withEngine(place, async (engine) => {
    await migrate(engine, fresh, { patienceMs: 1_000, upTo: version });
    await engine.db.deleteFrom('board').execute();
    for (const [table, rows] of Object.entries(samples[version] ?? {})) {
      await engine.db
        .insertInto(table as keyof BoardTables)
        .values(rows)
        .execute();
    }
  });
}

describe.each(engines)('a board on %s', (engine) => {
  // promise: newer-board-refused
  it('that was migrated by a newer Copse takes no more events of a process that had it open', async () => {
    await using place = await newPlace(engine);
    const board = await place.open();
    const { id } = await newTask(board, { title: 'Before' });
    await withEngine(place, (other) => other.db.updateTable('board').set({ version: 99 }).execute());
    await expect(newTask(board, { title: 'After' })).rejects.toThrow(BoardTooNew);
    await expect(board.requireCurrent()).rejects.toThrow(BoardTooNew);
    expect((await board.tasks({ order: 'urgent' })).map((task) => task.id)).toEqual([id]);
    expect(await board.lastEvent()).toBe(1);
  });

  // promise: newer-board-refused
  it.runIf(engine === 'postgres')('is not migrated while agents of other machines work on it', async () => {
    await using place = await newPlace(engine);
    await leaveBoardOf(migrations.length - 1, place);
    const [renewed_at, task] = [Date.now(), 'cp-here'];
    const lease = { task, token: 1, renewed_at, expires_at: renewed_at + defaultPolicy.lease.durationMs };
    await withEngine(place, (other) => other.db.insertInto('leases').values(lease).execute());
    await expect(place.open()).rejects.toThrow(`Agents of an older Copse work on this board: ${task}`);
    await withEngine(place, (other) => other.db.updateTable('leases').set({ expires_at: 0 }).execute());
    await place.open();
  });

  // promise: newer-board-refused
  it.runIf(engine === 'postgres')(
    'is not migrated while nodes of an older Copse run, which are named, unless it is forced',
    async () => {
      await using place = await newPlace(engine);
      await leaveBoardOf(migrations.length - 1, place);
      const see = (seen_at: number) =>
        withEngine(place, (other) => other.db.updateTable('nodes').set({ seen_at }).execute());
      await see(Date.now());
      await expect(place.open()).rejects.toMatchObject({
        message: expect.stringContaining('Nodes of an older Copse use this board: laptop (Copse unknown).'),
        remedy: expect.stringContaining('copse board migrate --force'),
      });
      const migrated: number[] = [];
      const onMigrated = (from: number, to: number) => void migrated.push(from, to);
      const forced = { isForced: true, onMigrated };
      await (await openBoard(place.address, defaultPolicy, fresh, forced)).close();
      expect(migrated).toEqual([migrations.length - 1, migrations.length]);

      await using later = await newPlace(engine);
      await leaveBoardOf(migrations.length - 1, later);
      await withEngine(later, (other) =>
        other.db
          .updateTable('nodes')
          .set({ seen_at: Date.now() - 2 * defaultPolicy.nodes.silentMs })
          .execute(),
      );
      await later.open();
    },
  );

  it.each(Object.keys(samples).map(Number))(
    'of version %i is brought up to date with everything on it',
    async (version) => {
      await using place = await newPlace(engine);
      await leaveBoardOf(version, place);
      const board = await place.open();
      const id = brand<TaskId>('cp-old1');
      const events = await board.events({ after: brand<EventNumber>(0), limit: 100 });
      const told = replay(events.map(({ event }) => event));
      expect(await board.get('task', id)).toEqual(told.task.get(id));
      expect((await board.get('task', id))?.body).toBe('with \0 and \ud800 inside');
      expect(await board.list('ledger', { task: id })).toEqual([...told.ledger.values()]);
      expect(await board.list('resource')).toEqual([...told.resource.values()]);
      expect(await board.list('node')).toEqual([...told.node.values()]);
      expect(await board.list('session')).toEqual([...told.session.values()]);
      expect(await board.list('landing')).toEqual([...told.landing.values()]);
      await newTask(board, { title: 'New task', dependsOn: [id] });
      expect(await board.lastEvent()).toBe(events.length + 1);
      await withEngine(place, async ({ db }) => {
        const { version: now } = await db.selectFrom('board').select('version').executeTakeFirstOrThrow();
        expect(now).toBe(migrations.length);
      });
    },
  );

  // promise: newer-board-refused
  it('of a newer version is refused in a clear sentence and not touched', async () => {
    await using place = await newPlace(engine);
    await newTask(await place.open(), { title: 'From the future' });
    await withEngine(
      place,
      async ({ db }) => void (await db.updateTable('board').set({ version: 99 }).execute()),
    );
    await expect(place.open()).rejects.toMatchObject({
      message: expect.stringMatching(
        /^A newer Copse wrote the board at .*: it has version 99, this Copse knows up to \d+\. Nothing was changed\.$/,
      ),
      remedy: expect.stringContaining('Update Copse'),
    });
    await withEngine(place, async ({ db }) => {
      expect(await db.selectFrom('board').select(['version', 'last_event']).execute()).toEqual([
        { version: 99, last_event: 1 },
      ]);
    });
  });

  it('is created once when many open it at the same moment', async () => {
    await using place = await newPlace(engine);
    const boards = await Promise.all(Array.from({ length: 8 }, () => place.open()));
    await Promise.all(boards.map((board, index) => newTask(board, { title: `From ${index}` })));
    expect(await boards[0]?.lastEvent()).toBe(8);
  });
});

it('every migration but the first has sample data of the version before it', () => {
  const files = readdirSync(new URL('../../../packages/copse/src/board/migrations', import.meta.url));
  const numbers = files.flatMap((file) => /^(\d{4})-/.exec(file)?.[1] ?? []).map(Number);
  expect(numbers.toSorted()).toEqual(migrations.map((_, index) => index + 1));
  expect(numbers.filter((number) => number > 1 && !(number - 1 in samples))).toEqual([]);
});
