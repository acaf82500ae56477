/**
 * A board in one SQLite file, through `node:sqlite`.
 *
 * Every write is a transaction, and transactions begin immediate: with a plain `begin`, two that read and then write
 * fail each other at once, and no busy timeout helps.
 *
 * SQLite's busy timeout is off: it would block the whole process while it waits for the write lock, and for ever if
 * another connection of the same process holds it. So a write gets the lock at once or fails as busy, and the board
 * retries (`runPatiently`).
 */

import type { SQLInputValue } from 'node:sqlite';

import { Kysely, type SqliteDatabase, SqliteDialect, type SqliteStatement, sql } from 'kysely';

import { listen, ring } from '../bell.ts';
import { type SqliteConnection, despiteBusy } from './connection.ts';
import type { Engine } from '../sql/engine.ts';
import { plainDialect } from '../sql/query.ts';
import type { BoardTables, Queries, WriteTransaction } from '../sql/schema.ts';
import { explaining, isBusy } from './errors.ts';
import type { Statement, Statements, Values } from '../sql/statements.ts';
import { type EventRow, type Write, bumpStatement, insertEventStatement } from '../sql/writes.ts';

export function openSqlite(connection: SqliteConnection): Engine {
  const { file, policy } = connection;
  const bell = `${file}-changed`;
  const db = new Kysely<BoardTables>({ dialect: new SqliteDialect({ database: forKysely(connection) }) });
  return {
    name: 'sqlite',
    location: file,
    db,
    dialect: plainDialect,
    columnTypes: { text: sql`text`, counter: sql`integer`, keyed: sql`without rowid` },
    nowMs: sql`cast(unixepoch('subsec') * 1000 as integer)`,
    locksRows: false,
    hasBoard: async (on) =>
      (await sql`select 1 from sqlite_master where name = 'board'`.execute(on)).rows.length > 0,
    transaction: (work) => transaction(connection, db, work),
    prepare: () => {},
    mayRunAgain: isBusy,
    lock: () => Promise.resolve(),
    write: (_, statements, writes, events) => {
      explaining(file, () => writeAll(connection, statements, writes, events));
      return Promise.resolve();
    },
    afterCommit: () => ring(bell),
    onChange: (wake) => Promise.resolve(listen(bell, wake)),
    snapshot: (read) => snapshot(db, read),
    async backUp(reason, at) {
      // Loaded on demand: most commands never need it.
      const { takeSnapshot } = await import('./snapshots.ts');
      return takeSnapshot(file, { reason, at, kept: policy.snapshots });
    },
    async findDamage() {
      const { quickCheck } = await import('./snapshots.ts');
      return quickCheck(connection.database);
    },
    server: () => Promise.resolve(null),
    connection: () => Promise.resolve(null),
    close: () => db.destroy(),
  };
}

/** The few calls that Kysely makes. */
function forKysely(connection: SqliteConnection): SqliteDatabase {
  const { database, file } = connection;
  return {
    close: () => database.close(),
    prepare(text): SqliteStatement {
      const statement = explaining(file, () => connection.prepared(text));
      const given = (parameters: readonly unknown[]) => parameters as SQLInputValue[];
      return {
        reader: statement.columns().length > 0,
        all: (parameters) => despiteBusy(connection, () => statement.all(...given(parameters))),
        run: (parameters) => explaining(file, () => statement.run(...given(parameters))),
        iterate: (parameters) => statement.iterate(...given(parameters)),
      };
    },
  };
}

/**
 * Kysely's own transactions do the same, but a `begin` that finds the board busy takes them nearly as long as a claim, and
 * with many writers most attempts do.
 */
function transaction<T>(
  { database, file, prepared }: SqliteConnection,
  db: Queries,
  work: (transaction: WriteTransaction) => Promise<T>,
): Promise<T> {
  return db.connection().execute(async (alone) => {
    const say = (text: string) => explaining(file, () => prepared(text).run());
    say('begin immediate');
    try {
      const result = await work(alone);
      say('commit');
      return result;
    } finally {
      // After a full disk the transaction is already rolled back; a second error would hide the first.
      if (database.isTransaction) say('rollback');
    }
  });
}

/** Straight to SQLite, because every other writer waits during this part of a transaction. */
function writeAll(
  { prepared }: SqliteConnection,
  statements: Statements,
  writes: readonly Write[],
  events: readonly EventRow[],
): void {
  const place = ({ names }: Statement, values: Values) => names.map((name) => values[name] as SQLInputValue);
  for (const { key, build, values } of writes) {
    const statement = statements.get(key, build);
    prepared(statement.sql).run(...place(statement, values));
  }
  const bumped = prepared(bumpStatement(statements).sql).get(events.length) as { last_event: number };
  const first = bumped.last_event - events.length + 1;
  const insert = insertEventStatement(statements);
  for (const [index, event] of events.entries()) {
    prepared(insert.sql).run(...place(insert, { ...event, number: first + index }));
  }
}

async function snapshot<T>(db: Queries, read: (db: Queries) => Promise<T>): Promise<T> {
  return db.connection().execute(async (connection) => {
    await sql`begin deferred`.execute(connection);
    try {
      return await read(connection);
    } finally {
      await sql`rollback`.execute(connection);
    }
  });
}
