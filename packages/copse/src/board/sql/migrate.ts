/** Migrates a board to the version of this Copse, or refuses a newer one. */

import type { Kysely } from 'kysely';

import { BoardTooNew } from '../port.ts';
import { type Engine, runPatiently } from './engine.ts';
import { migrations } from '../migrations/index.ts';
import { MOVED, movedAway, movedOf } from './moved.ts';
import type { Queries, WriteTransaction } from './schema.ts';

export interface NewBoard {
  readonly id: string;
  readonly at: number;
}

export interface Migrating {
  readonly patienceMs: number;
  /** Called before an existing board is migrated; throws to keep it as it is. */
  readonly before?: (from: number, to: number) => Promise<void>;
  /** For tests that need a board of an earlier version. */
  readonly upTo?: number;
}

export async function migrate(
  engine: Engine,
  fresh: NewBoard,
  { patienceMs, before, upTo = migrations.length }: Migrating,
): Promise<void> {
  const found = await versionWithoutLock(engine);
  if (found === upTo) return;
  if (found > 0 && found < upTo) await before?.(found, upTo);
  await runPatiently(engine, patienceMs, () =>
    engine.transaction(async (transaction) => {
      await engine.lock(transaction, 'migration');
      await migrateLocked(engine, transaction, fresh, upTo);
    }),
  );
}

/** Reads the version again under the lock: another process may have migrated the board meanwhile. */
async function migrateLocked(
  engine: Engine,
  transaction: WriteTransaction,
  fresh: NewBoard,
  upTo: number,
): Promise<void> {
  const found = (await engine.hasBoard(transaction)) ? await version(transaction) : 0;
  if (found > migrations.length) throw await notUsable(engine, found, transaction);
  for (const up of migrations.slice(found, upTo)) {
    await up(transaction as unknown as Kysely<unknown>, engine.columnTypes);
  }
  if (found === 0) {
    const { id, at } = fresh;
    await transaction
      .insertInto('board')
      .values({ id, version: upTo, created_at: at, last_event: 0 })
      .execute();
  } else if (found < upTo) {
    await transaction.updateTable('board').set({ version: upTo }).execute();
  }
}

/** For a process that has the board open while another migrates it. */
export async function requireCurrent(engine: Engine): Promise<void> {
  const found = await versionWithoutLock(engine);
  if (found > migrations.length) throw await notUsable(engine, found);
}

async function notUsable(engine: Engine, found: number, db: Queries = engine.db): Promise<BoardTooNew> {
  const moved = found === MOVED ? await movedOf(engine, db) : undefined;
  return moved ? movedAway(engine, moved) : tooNew(engine, found);
}

async function versionWithoutLock(engine: Engine): Promise<number> {
  return (await engine.hasBoard(engine.db)) ? version(engine.db) : 0;
}

async function version(db: Queries): Promise<number> {
  const row = await db.selectFrom('board').select('version').executeTakeFirstOrThrow();
  return row.version;
}

function tooNew(engine: Engine, found: number): BoardTooNew {
  return new BoardTooNew(
    `A newer Copse wrote the board at ${engine.location}: it has version ${found}, this Copse knows up to ${migrations.length}. Nothing was changed.`,
    'Update Copse to the version that your team uses.',
  );
}
