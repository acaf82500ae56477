/** One connection to the file of a board. Every command opens one, so this file loads little. */

import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';

import { type Policy, defaultPolicy } from '../../kernel/policy.ts';
import { RecentCache } from '../../kernel/recent-cache.ts';
import { type Query, plainDialect, textOf } from '../sql/query.ts';
import { explaining, isBusy } from './errors.ts';

export interface SqliteConnection {
  readonly file: string;
  readonly policy: Policy['board'];
  readonly database: DatabaseSync;
  /** The board runs the same queries again and again. */
  prepared(this: void, text: string): StatementSync;
}

export function connect(file: string, policy: Policy['board']): SqliteConnection {
  const database = explaining(file, () => new DatabaseSync(file, { timeout: 0 }));
  const known = new RecentCache<string, StatementSync>(MOST_STATEMENTS);
  const connection: SqliteConnection = {
    file,
    policy,
    database,
    prepared(text) {
      const found = known.get(text);
      if (found !== undefined) return found;
      const statement = database.prepare(text);
      known.set(text, statement);
      return statement;
    },
  };
  // Locked for a moment when two processes create the same board.
  despiteBusy(connection, () => database.exec('pragma journal_mode = wal'));
  database.exec(`pragma synchronous = full; pragma wal_autocheckpoint = ${PAGES_PER_CHECKPOINT}`);
  return connection;
}

/** At once: only while no transaction can be open on this connection, which would show what it has not committed. */
export function rowsOf(connection: SqliteConnection, query: Query): readonly unknown[] {
  const statement = explaining(connection.file, () => connection.prepared(textOf(query, plainDialect)));
  return despiteBusy(connection, () => statement.all(...(query.values as SQLInputValue[])));
}

/**
 * For reads, which meet a lock only while another process creates, recovers or closes the file. That is short, so waiting
 * here is fine.
 */
export function despiteBusy<T>({ file, policy }: SqliteConnection, call: () => T): T {
  for (let waitedMs = 0; ; waitedMs += READ_AGAIN_MS) {
    try {
      return explaining(file, call);
    } catch (error) {
      if (!isBusy(error) || waitedMs >= policy.busyTimeoutMs) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, READ_AGAIN_MS);
    }
  }
}

const READ_AGAIN_MS = 5;

const MOST_STATEMENTS = defaultPolicy.database.statements;

/** 16 MB of log: a checkpoint waits for the disk twice, so it should be rare. */
const PAGES_PER_CHECKPOINT = 4_000;
