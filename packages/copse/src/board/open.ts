/** Opens a board of either engine, and migrates it if necessary. */

import { type Timestamp, timestamp } from '../kernel/ids.ts';
import { type Policy, defaultPolicy } from '../kernel/policy.ts';
import { named } from '../kernel/text.ts';
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
}

export async function openBoard(
  address: BoardAddress,
  policy: Pick<Policy, 'board' | 'lease'>,
  fresh: NewBoard,
  { mayMigrate, ...connection }: OpenOptions = {},
): Promise<Board> {
  const known = address.engine === 'sqlite' ? openCurrent(address.file, policy) : undefined;
  if (known !== undefined) return known;
  const { KyselyBoard, migrate } = await import('./whole.ts');
  const engine = await openEngine(address, policy.board, connection);
  try {
    await migrate(engine, fresh, {
      patienceMs: policy.board.writePatienceMs,
      async before(from, to) {
        await mayMigrate?.(from, to);
        await refuseBesideOthers(engine, policy.lease, fresh.at);
        await backUpFirst(engine, timestamp(fresh.at));
      },
    });
  } catch (error) {
    await engine.close();
    throw error;
  }
  return new KyselyBoard(engine, policy);
}

/** Undefined when the board has to be made or migrated. */
function openCurrent(file: string, policy: Pick<Policy, 'board' | 'lease'>): Board | undefined {
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

/**
 * Other machines share a board on PostgreSQL, and their running agents show in the leases. An orchestrator without an agent does
 * not; it stops when it meets the newer board.
 */
async function refuseBesideOthers(engine: Engine, lease: Policy['lease'], now: number): Promise<void> {
  if (engine.name !== 'postgres') return;
  const leases = await engine.db.selectFrom('leases').selectAll().where('expires_at', '>', now).execute();
  // A lease of work by hand lasts for days.
  const tasks = leases.filter((one) => one.expires_at - one.renewed_at <= lease.durationMs);
  if (tasks.length === 0) return;
  throw new BoardUnavailable(
    `Agents of an older Copse work on this board: ${named(tasks.map(({ task }) => task))}. This Copse would migrate it, which they cannot use. Nothing was changed.`,
    'Stop the orchestrators of all machines (Ctrl+C), let their agents end or pause them with the older Copse (copse pause <id>), then run this again.',
  );
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
