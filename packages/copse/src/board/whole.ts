/** What writing to a board needs, loaded as one chunk. */

import type { Policy } from '../kernel/policy.ts';
import { KyselyBoard } from './sql/kysely-board.ts';
import { askOf } from './sql/statements.ts';
import type { SqliteConnection } from './sqlite/connection.ts';
import type { WholeBoard } from './sqlite/read-first.ts';
import { openSqlite } from './sqlite/sqlite.ts';

export { KyselyBoard } from './sql/kysely-board.ts';
export { migrate } from './sql/migrate.ts';
export { openSqlite } from './sqlite/sqlite.ts';

export function wholeBoard(
  connection: SqliteConnection,
  policy: Pick<Policy, 'board' | 'lease' | 'keptAnswers'>,
): WholeBoard {
  const engine = openSqlite(connection);
  return { board: new KyselyBoard(engine, policy), ask: askOf(engine.db, engine.dialect) };
}
