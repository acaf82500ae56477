/**
 * A board on PostgreSQL, for several machines.
 *
 * All tables are in a schema of their own (`copse`, or `?schema=` in the URL), so one database can hold boards of
 * several repositories. Every commit notifies the schema's channel; the notification is part of the transaction.
 */

import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';

import { Kysely, PostgresDialect, WithSchemaPlugin, sql } from 'kysely';
import pg from 'pg';

import type { Policy } from '../../kernel/policy.ts';
import { BoardUnavailable, type Subscription } from '../port.ts';
import type { Engine } from '../sql/engine.ts';
import { explained, explainedLoss, sqlState } from './errors.ts';
import type { BoardTables, Queries } from '../sql/schema.ts';
import { writeTogether } from '../sql/writes.ts';

const CONNECTIONS = 4;
const CONNECT_TIMEOUT_MS = 5_000;
const RECONNECT_MS = 1_000;

/** Rolled back so that another could go on, or two drew the same id: run again from what is true now. */
const RUN_AGAIN = new Set(['40001', '40P01']);
const UNIQUE_VIOLATION = '23505';

/**
 * A lock that somebody holds for very long is not coming free: better to say so than to wait for ever.
 *
 * And a commit holds the lock on the board's row while the server waits for its disk. Where the disk is all that it
 * waits for (no standby has to confirm), the commit gives the lock back first, and one statement that goes out with it
 * brings everything up to here to disk. Nobody is told of a commit before both are answered.
 */
const SETTINGS = `
  select set_config('lock_timeout', $1, false), case
    when current_setting('server_version_num')::int >= 170000
      and current_setting('synchronous_commit') = 'on' and current_setting('synchronous_standby_names') = ''
    then set_config('synchronous_commit', 'off', false) end as later`;
const BRING_TO_DISK = `select pg_logical_emit_message(false, 'copse', '', true)`;

interface Settings {
  readonly later: string | null;
}

const locks = { dependencies: 1, migration: 2, schedule: 3 } as const;

export async function openPostgres(url: string, policy: Policy['board']): Promise<Engine> {
  const { connectionString, schema, location } = parseUrl(url);
  const config = { connectionString, types: numbersForBigints, connectionTimeoutMillis: CONNECT_TIMEOUT_MS };
  const pool = new pg.Pool({ ...config, max: CONNECTIONS, pipeline: true, application_name: 'copse' });
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => {});
  const known = new Map<string, KnownStatement>([[BRING_TO_DISK, { name: 'copse_disk', isLast: false }]]);
  pool.on('connect', (client) => {
    // A connection that breaks while it is in use fails its query; without a listener it would also end the process.
    client.on('error', () => {});
    const settings = client.query<Settings>(SETTINGS, [`${policy.writePatienceMs}`]);
    const waitsForDisk = settings.then(({ rows }) => rows[0]?.later == null);
    waitsForDisk.catch(() => {});
    sendBriskly(client, { known, location, waitsForDisk });
  });
  const db = new Kysely<BoardTables>({
    dialect: new PostgresDialect({ pool }),
    plugins: [new WithSchemaPlugin(schema)],
  });
  const channel = `copse_${schema}`;
  try {
    await prepareDatabase(db, schema, location);
  } catch (error) {
    await db.destroy();
    throw explained(error, location);
  }
  return {
    name: 'postgres',
    location,
    db,
    columnTypes: { text: sql`text collate "C"`, counter: sql`bigint`, keyed: sql`` },
    locksRows: true,
    hasBoard: async (on) =>
      (await sql`select 1 from pg_tables where schemaname = ${schema} and tablename = 'board'`.execute(on))
        .rows.length > 0,
    transaction: (work) => db.transaction().execute(work),
    prepare({ sql: text, isLast }) {
      if (!known.has(text)) known.set(text, { name: `copse_${known.size}`, isLast: isLast ?? false });
    },
    mayRunAgain,
    async lock(transaction, what) {
      await sql`select pg_advisory_xact_lock(hashtext(${channel}), ${locks[what]})`.execute(transaction);
    },
    write: (transaction, statements, writes, events) =>
      writeTogether(transaction, statements, writes, events, channel),
    afterCommit: () => {},
    onChange: (wake) => listen(config, channel, wake),
    snapshot: (read) =>
      db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(read),
    close: () => db.destroy(),
  };
}

/**
 * Statements that come again and again get a name, so that the server reads and plans them once. And two answers are
 * not waited for at once, which halves the round trips of a claim: that of `begin`, and that of a transaction's last
 * write, which holds the lock on the board's row until the commit that goes out with it. They are waited for with the
 * answer to the statement after them, so whoever awaits that one hears of their failure.
 *
 * A last write that the server refuses makes it roll back at the commit. One that the driver refuses never reaches the
 * server, which would then commit without it; so a commit first makes sure that it was sent.
 */
function sendBriskly(client: pg.PoolClient, { known, location, waitsForDisk }: Connected): void {
  const query = client.query.bind(client) as (
    config: string | pg.QueryConfig,
    values?: unknown[],
  ) => Promise<pg.QueryResult>;
  const { stream } = (client as unknown as { connection: { stream: Duplex } }).connection;
  let held: HeldAnswer[] = [];
  let isCorked = false;

  const submit = (text: string, values?: unknown[]): Promise<pg.QueryResult> => {
    const statement = known.get(text);
    const answer = statement
      ? query({ name: statement.name, text, values: values ?? [] })
      : query(text, values);
    return answer.catch((error: unknown) => {
      throw explainedLoss(error, location);
    });
  };
  const submitAndRelease = async (text: string, values?: unknown[]): Promise<pg.QueryResult> => {
    const answer = submit(text, values);
    if (isCorked) stream.uncork();
    isCorked = false;
    const before = held;
    held = [];
    answer.catch(() => {});
    for (const one of before) await one.answer;
    return answer;
  };
  const commit = async (): Promise<pg.QueryResult> => {
    if (await waitsForDisk) return submitAndRelease('commit');
    if (!isCorked) stream.cork();
    isCorked = true;
    const committed = submit('commit');
    held.push(new HeldAnswer(committed));
    await submitAndRelease(BRING_TO_DISK);
    return committed;
  };
  const send = async (text: string, values?: unknown[]): Promise<unknown> => {
    if (text === 'begin' || known.get(text)?.isLast) {
      if (!isCorked) stream.cork();
      isCorked = true;
      held.push(new HeldAnswer(submit(text, values)));
      return nothingYet;
    }
    if (text === 'commit' && held.length > 0) {
      await setImmediate();
      if (held.some((one) => one.hasFailed)) return submitAndRelease('rollback');
    }
    if (text === 'commit') return commit();
    return submitAndRelease(text, values);
  };
  Object.assign(client, { query: send });
}

interface Connected {
  readonly known: ReadonlyMap<string, KnownStatement>;
  readonly location: string;
  readonly waitsForDisk: Promise<boolean>;
}

class HeldAnswer {
  readonly answer: Promise<unknown>;
  hasFailed = false;

  constructor(answer: Promise<unknown>) {
    this.answer = answer;
    answer.catch(() => {
      this.hasFailed = true;
    });
  }
}

interface KnownStatement {
  readonly name: string;
  readonly isLast: boolean;
}

const nothingYet = { command: 'SELECT', rowCount: 0, rows: [] } as const;

function mayRunAgain(error: unknown): boolean {
  const state = sqlState(error) ?? '';
  if (RUN_AGAIN.has(state)) return true;
  // Two drew the same id, or added the same work item: the next run sees what the other one did.
  if (state !== UNIQUE_VIOLATION || !(error instanceof pg.DatabaseError)) return false;
  return error.constraint === 'tasks_work_item' || !!error.constraint?.endsWith('_pkey');
}

async function prepareDatabase(db: Queries, schema: string, location: string): Promise<void> {
  const encoding = await sql<{ server_encoding: string }>`show server_encoding`.execute(db);
  if (encoding.rows[0]?.server_encoding !== 'UTF8') {
    throw new BoardUnavailable(
      `The database at ${location} is not encoded in UTF-8, so not every title could be kept.`,
      `Create one that is: createdb --encoding=UTF8 --template=template0 <name>`,
    );
  }
  const found = await sql`select 1 from pg_namespace where nspname = ${schema}`.execute(db);
  if (found.rows.length > 0) return;
  try {
    await sql`create schema if not exists ${sql.id(schema)}`.execute(db);
  } catch (error) {
    // Two that create it at once: `if not exists` does not help the later one, but the schema is there.
    if (!['23505', '42P06'].includes(sqlState(error) ?? '')) throw error;
  }
}

/** A connection of its own that comes back by itself; after a gap it wakes, since it may have missed something. */
async function listen(config: pg.ClientConfig, channel: string, wake: () => void): Promise<Subscription> {
  let stopped = false;
  let client: pg.Client | undefined;
  let retry: NodeJS.Timeout | undefined;

  const connect = async (): Promise<void> => {
    const next = new pg.Client({ ...config, application_name: 'copse (listening)' });
    next.on('notification', () => wake());
    next.on('error', () => {});
    try {
      await next.connect();
      await next.query(`listen ${next.escapeIdentifier(channel)}`);
    } catch (error) {
      await next.end().catch(() => {});
      throw error;
    }
    if (stopped) return next.end();
    client = next;
    next.on('end', () => reconnectSoon());
  };
  const reconnectSoon = (): void => {
    if (stopped || retry) return;
    retry = setTimeout(() => {
      retry = undefined;
      connect().then(wake, reconnectSoon);
    }, RECONNECT_MS);
  };

  await connect();
  return {
    async stop() {
      stopped = true;
      clearTimeout(retry);
      await client?.end();
    },
  };
}

/** Counts and times fit a number; strings would be a trap. */
const numbersForBigints: pg.CustomTypesConfig = {
  getTypeParser: (id, format) =>
    id === pg.types.builtins.INT8
      ? Number
      : (pg.types.getTypeParser(id, format) as (text: string) => unknown),
};

interface ParsedUrl {
  readonly connectionString: string;
  readonly schema: string;
  readonly location: string;
}

function parseUrl(text: string): ParsedUrl {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^postgres(ql)?:$/.test(url.protocol)) {
    throw new BoardUnavailable(
      'The address of the board is not a PostgreSQL URL.',
      'Write it as postgres://user@host:5432/database in COPSE_BOARD or in copse.yml under board.',
    );
  }
  const schema = url.searchParams.get('schema') ?? 'copse';
  if (!/^[a-z_][a-z0-9_]{0,49}$/.test(schema)) {
    throw new BoardUnavailable(
      'The schema in the address of the board is not a plain name.',
      'Use up to 50 small letters, digits and underscores: postgres://host/database?schema=my_repository',
    );
  }
  url.searchParams.delete('schema');
  const connectionString = url.href;
  const location = `postgres://${url.host}${url.pathname}${schema === 'copse' ? '' : `?schema=${schema}`}`;
  return { connectionString, schema, location };
}
