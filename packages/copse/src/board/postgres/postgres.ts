/**
 * A board on PostgreSQL, for several machines.
 *
 * All tables are in a schema of their own (`copse`, or `?schema=` in the URL), so one database can hold boards of
 * several repositories. Every commit notifies the schema's channel; the notification is part of the transaction.
 */

import { Kysely, PostgresDialect, type PostgresPoolClient, WithSchemaPlugin, sql } from 'kysely';
import pg from 'pg';

import { listen, ring } from '../bell.ts';
import { BoardUnavailable, CommitUnknown } from '../port.ts';
import type { Engine, Terms } from '../sql/engine.ts';
import type { BoardTables, Queries, WriteTransaction } from '../sql/schema.ts';
import { writeTogether } from '../sql/writes.ts';
import { type PostgresAddress, parseAddress } from './address.ts';
import { type BoardClient, Clients, type ConnectionLimits } from './clients.ts';
import { LOCK_TIMEOUT, explained, sqlState } from './errors.ts';
import { Listener } from './listener.ts';
import { refuseTransactionPooler } from './pooler.ts';
import { type Pooler, TAKES_LONG, newKnownStatements, sendBriskly } from './sending.ts';
import { connectionFacts } from './connection-facts.ts';
import { CommitLost, type WrittenEvent, settle } from './settle.ts';
import { openTerms, serverFacts } from './terms.ts';

/** Rolled back because of another transaction, or two drew the same id: a retry sees the new state. */
const RUN_AGAIN = new Set(['40001', '40P01', LOCK_TIMEOUT]);
const UNIQUE_VIOLATION = '23505';

const locks = { dependencies: 1, migration: 2, schedule: 3 } as const;

export interface PostgresOptions {
  readonly limits: ConnectionLimits;
  /** There are hundreds of runners: they hold no connection while they wait, and processes of their machine wake them. */
  readonly isRunner?: boolean | undefined;
  /** The file through which processes of this machine wake each other. */
  readonly bell?: string | undefined;
}

export async function openPostgres(url: string, options: PostgresOptions): Promise<Engine> {
  const { limits, isRunner = false, bell } = options;
  const address = await withTlsIfOffered(parseAddress(url), limits);
  const { schema, location } = address;
  const clients = new Clients(address, limits);
  const pool = new pg.Pool({
    ...clients.config,
    Client: clients.Client as unknown as new () => pg.ClientBase,
    max: isRunner ? limits.runnerConnections : limits.connections,
    idleTimeoutMillis: isRunner ? limits.runnerIdleMs : limits.idleMs,
    pipeline: true,
    application_name: isRunner ? 'copse (runner)' : 'copse',
  });
  // The pool replaces a broken idle connection; without a listener the error would end the process.
  pool.on('error', () => {});
  const writtenBy: WrittenBy = new WeakMap();
  const known = newKnownStatements();
  const pooler: Pooler = { isSeen: false, isFine: false };
  pool.on('connect', (client) =>
    sendBriskly(client as unknown as BoardClient, { clients, known, location, pooler }),
  );
  const db = new Kysely<BoardTables>({
    dialect: new PostgresDialect({
      pool: { options: pool.options, connect: () => connected(pool, location), end: () => pool.end() },
    }),
    plugins: [new WithSchemaPlugin(schema)],
  });
  const channel = `copse_${schema}`;
  const listener = new Listener(clients, channel);
  const close = async (): Promise<void> => {
    const late = setTimeout(() => clients.destroyAll(), limits.closeMs);
    await listener.close();
    await db.destroy();
    clearTimeout(late);
  };
  let terms: Terms | undefined;
  try {
    terms = await prepareDatabase(db, schema, location);
    if (pooler.isSeen) {
      await refuseTransactionPooler(clients, location);
      pooler.isFine = true;
      // The next one gets its settings.
      (await pool.connect()).release(true);
    }
  } catch (error) {
    await close();
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
    transaction: (work) => transaction({ db, clients, location, writtenBy }, work),
    prepare({ sql: text, isLast }) {
      if (!known.has(text)) known.set(text, { name: `copse_${known.size}`, isLast: isLast ?? false });
    },
    mayRunAgain,
    async lock(transaction, what) {
      if (what === 'migration') await sql.raw(TAKES_LONG).execute(transaction);
      await sql`select pg_advisory_xact_lock(hashtext(${channel}), ${locks[what]})`.execute(transaction);
    },
    async write(transaction, statements, writes, events) {
      const [event] = events;
      if (event !== undefined) writtenBy.set(transaction, { schema, event });
      await writeTogether(transaction, statements, writes, events, channel);
    },
    afterCommit: () => {
      if (bell !== undefined && !isRunner) ring(bell);
    },
    onChange: async (wake) => {
      if (isRunner && bell !== undefined) return listen(bell, wake);
      try {
        return await listener.subscribe(wake);
      } catch (error) {
        throw explained(error, location);
      }
    },
    snapshot: (read) =>
      db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(read),
    backUp: () => Promise.resolve({ kind: 'left_to_server' }),
    findDamage: () => Promise.resolve([]),
    terms,
    server: () => serverFacts(db, schema, terms),
    connection: () => connectionFacts(db),
    close,
  };
}

async function connected(pool: pg.Pool, location: string): Promise<PostgresPoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    throw explained(error, location);
  }
}

/** As libpq does with sslmode=prefer: the server says whether it offers TLS. */
async function withTlsIfOffered(
  address: PostgresAddress,
  limits: ConnectionLimits,
): Promise<PostgresAddress> {
  if (!address.isSslOptional) return address;
  try {
    const client = await new Clients(address, limits).connect('copse');
    void client.end();
    return address;
  } catch (error) {
    if (!/does not support SSL/.test(String(error))) throw explained(error, address.location);
    return { ...address, ssl: false };
  }
}

type WrittenBy = WeakMap<WriteTransaction, WrittenEvent>;

interface Transacting {
  readonly db: Queries;
  readonly clients: Clients;
  readonly location: string;
  readonly writtenBy: WrittenBy;
}

/** A commit whose answer is lost counts if the server did it, and may be run again if it did not. */
async function transaction<T>(
  { db, clients, location, writtenBy }: Transacting,
  work: (transaction: WriteTransaction) => Promise<T>,
): Promise<T> {
  let done: { readonly value: T; readonly written: WrittenEvent | undefined } | undefined;
  try {
    return await db.transaction().execute(async (transaction) => {
      const value = await work(transaction);
      done = { value, written: writtenBy.get(transaction) };
      return value;
    });
  } catch (error) {
    if (!(error instanceof CommitLost) || done === undefined) throw error;
    const { lost } = error;
    const { value, written } = done;
    const settled = () => settle(clients, lost, location, written);
    const fate = await settled().catch(() => {
      throw new CommitUnknown(error, settled);
    });
    if (fate === 'committed') return value;
    throw new NotCommitted(error.message, { cause: error });
  }
}

class NotCommitted extends Error {}

function mayRunAgain(error: unknown): boolean {
  if (error instanceof NotCommitted) return true;
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
      'Use the address of the primary server, or promote this one with pg_promote().',
    );
  }
  if (found?.encoding !== 'UTF8') {
    throw new BoardUnavailable(
      `The database at ${location} is not encoded in UTF-8.`,
      'createdb --encoding=UTF8 --template=template0 copse # to create one with UTF-8',
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
