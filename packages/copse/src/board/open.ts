/** Opens a board of either engine, and migrates it if necessary. */

import { type Timestamp, timestamp } from '../kernel/ids.ts';
import { type Policy, defaultPolicy } from '../kernel/policy.ts';
import { type Board, BoardUnavailable } from './port.ts';
import type { PostgresOptions } from './postgres/postgres.ts';
import type { Engine } from './sql/engine.ts';
import type { NewBoard } from './sql/migrate.ts';
import { connect } from './sqlite/connection.ts';
import { openReadFirst } from './sqlite/read-first.ts';

export type BoardAddress =
  | { readonly engine: 'sqlite'; readonly file: string }
  | { readonly engine: 'postgres'; readonly url: string };

export async function openEngine(
  address: BoardAddress,
  policy: Policy['board'],
  { limits = defaultPolicy.database, ...connection }: ConnectionOptions = {},
): Promise<Engine> {
  if (address.engine === 'sqlite') {
    const { openSqlite } = await import('./whole.ts');
    return openSqlite(connect(address.file, policy));
  }
  // Loaded on demand: the driver takes as long to load as the whole command line.
  const { openPostgres } = await import('./postgres/postgres.ts');
  return openPostgres(address.url, { limits, ...connection });
}

export type ConnectionOptions = Partial<PostgresOptions>;

export interface OpenOptions extends ConnectionOptions {
  /** Called before a board of an older Copse is migrated; throws to keep it as it is. */
  readonly mayMigrate?: (from: number, to: number) => Promise<void>;
  /** Also while others use it: a process of an older Copse then stops. */
  readonly isForced?: boolean;
  readonly onMigrated?: (from: number, to: number) => void;
}

export async function openBoard(
  address: BoardAddress,
  policy: Pick<Policy, 'board' | 'lease' | 'nodes' | 'keptAnswers'>,
  fresh: NewBoard,
  { mayMigrate, isForced = false, onMigrated, ...connection }: OpenOptions = {},
): Promise<Board> {
  const known = address.engine === 'sqlite' ? openCurrent(address.file, policy) : undefined;
  if (known !== undefined) return known;
  const { KyselyBoard, migrate } = await import('./whole.ts');
  const engine = await openEngine(address, policy.board, connection);
  try {
    await migrate(engine, fresh, {
      patienceMs: policy.board.writePatienceMs,
      async before(from, to) {
        if (!isForced) {
          await mayMigrate?.(from, to);
          const { refuseBesideOthers } = await import('./sql/before-migration.ts');
          await refuseBesideOthers(engine, policy, { from, to, at: fresh.at });
        }
        await backUpFirst(engine, timestamp(fresh.at));
        onMigrated?.(from, to);
      },
    });
  } catch (error) {
    await engine.close();
    throw error;
  }
  return new KyselyBoard(engine, policy);
}

/** Undefined when the board has to be made or migrated. */
function openCurrent(
  file: string,
  policy: Pick<Policy, 'board' | 'lease' | 'keptAnswers'>,
): Board | undefined {
  const connection = connect(file, policy.board);
  let board: Board | undefined;
  try {
    board = openReadFirst(connection, async () => {
      const { wholeBoard } = await import('./whole.ts');
      return wholeBoard(connection, policy);
    });
    return board;
  } finally {
    if (board === undefined) connection.database.close();
  }
}

/** Without a good copy nothing is migrated. */
async function backUpFirst(engine: Engine, at: Timestamp): Promise<void> {
  const copy = await engine.backUp('migration', at);
  if (copy.kind !== 'damaged') return;
  throw new BoardUnavailable(
    `The board at ${engine.location} is damaged, so it was not migrated: ${copy.problems[0] ?? ''}.`,
    'copse board restore',
  );
}
