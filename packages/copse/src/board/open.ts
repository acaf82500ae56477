/** Opens a board of either engine, and migrates it if necessary. */

import type { Policy } from '../kernel/policy.ts';
import type { Board } from './port.ts';
import type { Engine } from './sql/engine.ts';
import { KyselyBoard } from './sql/kysely-board.ts';
import { type NewBoard, migrate } from './sql/migrate.ts';
import { openSqlite } from './sqlite/sqlite.ts';

export type BoardAddress =
  | { readonly engine: 'sqlite'; readonly file: string }
  | { readonly engine: 'postgres'; readonly url: string };

export async function openEngine(address: BoardAddress, policy: Policy['board']): Promise<Engine> {
  if (address.engine === 'sqlite') return openSqlite(address.file, policy);
  // Loaded on demand: the driver takes as long to load as the whole command line.
  const { openPostgres } = await import('./postgres/postgres.ts');
  return openPostgres(address.url, policy);
}

export async function openBoard(
  address: BoardAddress,
  policy: Pick<Policy, 'board' | 'lease'>,
  fresh: NewBoard,
): Promise<Board> {
  const engine = await openEngine(address, policy.board);
  try {
    await migrate(engine, fresh, policy.board.writePatienceMs);
  } catch (error) {
    await engine.close();
    throw error;
  }
  return new KyselyBoard(engine, policy);
}
