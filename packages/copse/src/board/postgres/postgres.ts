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

import { type Policy, defaultPolicy } from '../../kernel/policy.ts';
import { BoardUnavailable, type Subscription } from '../port.ts';
import type { Engine, Terms } from '../sql/engine.ts';
import { explained, explainedLoss, sqlState } from './errors.ts';
import type { BoardTables, Queries } from '../sql/schema.ts';
import { writeTogether } from '../sql/writes.ts';
import { openTerms, serverFacts } from './terms.ts';

const CONNECTIONS = defaultPolicy.database.connections;
const CONNECT_TIMEOUT_MS = defaultPolicy.database.connectMs;
const RECONNECT_MS = defaultPolicy.database.reconnectMs;

/** Rolled back because of another transaction, or two drew the same id: a retry sees the new state. */
const RUN_AGAIN = new Set(['40001', '40P01']);
const UNIQUE_VIOLATION = '23505';

/**
 * `lock_timeout`: a lock that is held for very long is reported, not waited for.
 *
 * A commit holds the lock on the board's row while the server waits for its disk. Without standbys that must confirm, the
 * commit is asynchronous and releases the lock first; one statement sent with it flushes the log to disk. The commit is
 * reported as done only after both are answered.
 */
const SETTINGS = `
  select set_config('lock_timeout', $1, false), case
    when current_setting('server_version_num')::int >= 170000
      and current_setting('synchronous_commit') = 'on' and current_setting('synchronous_standby_names') = ''
    then set_config('synchronous_commit', 'off', false) end as later`;
const BRING_TO_DISK = `select pg_logical_emit_message(false, 'copse', '', true)`;

interface PostgresSettings {
  readonly later: string | null;
}

const locks = { dependencies: 1, migration: 2, schedule: 3 } as const;

export async function openPostgres(url: string, policy: Policy['board']): Promise<Engine> {
  const { connectionString, schema, location } = parseUrl(url);
  const config = { connectionString, types: numbersForBigints, connectionTimeoutMillis: CONNECT_TIMEOUT_MS };
  const pool = new pg.Pool({ ...config, max: CONNECTIONS, pipeline: true, application_name: 'copse' });
  // The pool replaces a broken idle connection; without a listener the error would end the process.
  pool.on('error', () => {});
  const known = new Map<string, KnownStatement>([[BRING_TO_DISK, { name: 'copse_disk', isLast: false }]]);
  pool.on('connect', (client) => {
    // A broken connection in use fails its query; without a listener the error would also end the process.
    client.on('error', () => {});
    const settings = client.query<PostgresSettings>(SETTINGS, [`${policy.writePatienceMs}`]);
    const waitsForDisk = settings.then(({ rows }) => rows[0]?.later == null);
    waitsForDisk.catch(() => {});
    sendBriskly(client, { known, location, waitsForDisk });
  });
  const db = new Kysely<BoardTables>({
    dialect: new PostgresDialect({ pool }),
    plugins: [new WithSchemaPlugin(schema)],
  });
  const channel = `copse_${schema}`;
  let terms: Terms | undefined;
  try {
    terms = await prepareDatabase(db, schema, location);
  } catch (error) {
    await db.destroy();
    throw explained(error, location);
  }
  return {
    name: 'postgres',
    location,
    db,
    dialect: { value: (at) => `$${at}`, table: (name) => `"${schema}"."${name}"` },
    columnTypes: { text: sql`text collate "C"`, counter: sql`bigint`, keyed: sql`` },
    nowMs: sql`(extract(epoch from clock_timestamp()) * 1000)::bigint`,
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
    backUp: () => Promise.resolve({ kind: 'left_to_server' }),
    findDamage: () => Promise.resolve([]),
    terms,
    server: () => serverFacts(db, schema, terms),
    close: () => db.destroy(),
  };
}

/**
 * Repeated statements get a name, so that the server parses and plans them once. Two answers are awaited later, which
 * halves the round trips of a claim: that of `begin`, and that of the last write, which is sent together with the commit.
 * They are awaited with the answer to the next statement, whose caller then sees their failure.
 *
 * A last write that the server refuses makes the commit a rollback. One that the driver refuses never reaches the server,
 * which would commit without it; so the commit first makes sure that the write was sent.
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
  // Two transactions drew the same id or added the same work item: a retry sees the other one.
  if (state !== UNIQUE_VIOLATION || !(error instanceof pg.DatabaseError)) return false;
  return error.constraint === 'tasks_work_item' || !!error.constraint?.endsWith('_pkey');
}

async function prepareDatabase(db: Queries, schema: string, location: string): Promise<Terms | undefined> {
  const { rows } = await sql<Found>`
    select current_setting('server_encoding') as encoding, pg_is_in_recovery() as "isStandby",
      exists (select from pg_namespace where nspname = ${schema}) as "hasSchema",
      exists (select from pg_tables where schemaname = ${schema} and tablename = 'terms') as "hasTerms"`.execute(
    db,
  );
  const [found] = rows;
  if (found?.isStandby) {
    throw new BoardUnavailable(
      `The server at ${location} is a standby: nothing can be changed on it.`,
      'Use the address of the primary server, or promote this one: select pg_promote()',
    );
  }
  if (found?.encoding !== 'UTF8') {
    throw new BoardUnavailable(
      `The database at ${location} is not encoded in UTF-8.`,
      `Create one with UTF-8: createdb --encoding=UTF8 --template=template0 <name>`,
    );
  }
  if (!found.hasSchema) await createSchema(db, schema);
  return openTerms(db, schema, { hasTable: found.hasTerms });
}

interface Found {
  readonly encoding: string;
  readonly isStandby: boolean;
  readonly hasSchema: boolean;
  readonly hasTerms: boolean;
}

async function createSchema(db: Queries, schema: string): Promise<void> {
  try {
    await sql`create schema if not exists ${sql.id(schema)}`.execute(db);
  } catch (error) {
    // Two processes may create it at once; then `if not exists` fails, but the schema exists.
    if (!['23505', '42P06'].includes(sqlState(error) ?? '')) throw error;
  }
}

/** A separate connection that reconnects; after a gap it wakes the listener, because notifications may be lost. */
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

/** bigint columns hold counts and times, which fit a number. */
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
  const isSystems = /^pg_|^information_schema$/.test(schema);
  if (isSystems || !/^[a-z_][a-z0-9_]{0,49}$/.test(schema)) {
    throw new BoardUnavailable(
      isSystems
        ? `The schema ${schema} in the address of the board belongs to PostgreSQL itself.`
        : 'The schema in the address of the board is not a plain name.',
      'Use at most 50 lower-case letters, digits and underscores: postgres://host/database?schema=my_repository',
    );
  }
  url.searchParams.delete('schema');
  const connectionString = url.href;
  const location = `postgres://${url.host}${url.pathname}${schema === 'copse' ? '' : `?schema=${schema}`}`;
  return { connectionString, schema, location };
}
