/**
 * A board that moved to another engine is kept as it is, with a version that no Copse knows: from then on no process writes to
 * it, also none that has it open. Until the move is done it can be taken back, or repeated after a kill.
 */

import { sql } from 'kysely';

import { BoardTooNew } from '../port.ts';
import type { Engine } from './engine.ts';
import type { Queries } from './schema.ts';

/** Far above every version of a board. */
export const MOVED = 1_000_000;

export interface Moved {
  /** Where it is now. */
  readonly location: string;
  /** What its version was. */
  readonly version: number;
  readonly isDone: boolean;
}

export async function freeze(engine: Engine, location: string): Promise<Moved> {
  const table = tableOf(engine);
  return engine.transaction(async (transaction) => {
    const { version } = await transaction.selectFrom('board').select('version').executeTakeFirstOrThrow();
    await sql`create table if not exists ${table} (location text not null, version integer not null, is_done integer not null)`.execute(
      transaction,
    );
    await sql`delete from ${table}`.execute(transaction);
    await sql`insert into ${table} values (${location}, ${version}, 0)`.execute(transaction);
    await transaction.updateTable('board').set({ version: MOVED }).execute();
    return { location, version, isDone: false };
  });
}

export async function thaw(engine: Engine, { version }: Moved): Promise<void> {
  await engine.transaction(async (transaction) => {
    await sql`delete from ${tableOf(engine)}`.execute(transaction);
    await transaction.updateTable('board').set({ version }).execute();
  });
}

export async function finishMove(engine: Engine): Promise<void> {
  await sql`update ${tableOf(engine)} set is_done = 1`.execute(engine.db);
}

/** Undefined while it is where it always was. */
export async function movedOf(engine: Engine, db: Queries = engine.db): Promise<Moved | undefined> {
  const row = await db.selectFrom('board').select('version').executeTakeFirst();
  if (row?.version !== MOVED) return undefined;
  const { rows } = await sql<{ location: string; version: number; is_done: number }>`
    select location, version, is_done from ${tableOf(engine)}`.execute(db);
  const [found] = rows;
  return found && { location: found.location, version: found.version, isDone: found.is_done === 1 };
}

export function movedAway(engine: Engine, { location, isDone }: Moved): BoardTooNew {
  if (!isDone)
    return new BoardTooNew(
      `The board at ${engine.location} is being moved to ${location}, or its move was interrupted. Nothing is lost.`,
      'copse board migrate --to "…" # to finish the move, with that address',
    );
  return new BoardTooNew(
    `The board moved from ${engine.location} to ${location}. The old one is kept, and takes no changes.`,
    location.startsWith('postgres:')
      ? 'copse config accept # after you wrote the new address into copse.yml under board; or set COPSE_BOARD'
      : 'copse config accept # after you remove board from copse.yml; unset COPSE_BOARD too',
  );
}

function tableOf({ dialect }: Engine) {
  return sql.raw(dialect.table('moved'));
}
