/** What the two engines do differently; all other code of the board is shared. */

import { setTimeout } from 'node:timers/promises';

import type { Expression, RawBuilder } from 'kysely';

import { backoffMs } from '../../kernel/backoff.ts';
import type { Timestamp } from '../../kernel/ids.ts';
import { type BackedUp, BoardUnavailable, type ConnectionFacts, type Subscription } from '../port.ts';
import type { SnapshotReason } from '../rules/snapshots.ts';
import type { BoardServer, BoardTerm } from '../rules/term.ts';
import type { Dialect } from './query.ts';
import type { ColumnTypes, Queries, WriteTransaction } from './schema.ts';
import type { Statement, Statements } from './statements.ts';
import type { EventRow, Write } from './writes.ts';

export interface Engine {
  readonly name: 'sqlite' | 'postgres';
  readonly location: string;
  readonly db: Queries;
  readonly dialect: Dialect;
  readonly columnTypes: ColumnTypes;
  /** The clock of the server, in milliseconds; of a board in a file, the clock of this machine. */
  readonly nowMs: RawBuilder<number>;
  /** SQLite has one writer at a time; PostgreSQL locks the rows that a transaction will change. */
  readonly locksRows: boolean;
  hasBoard(db: Queries): Promise<boolean>;
  /** Commits when the work is done and rolls back when it fails. */
  transaction<T>(this: void, work: (transaction: WriteTransaction) => Promise<T>): Promise<T>;
  /** The statement will run often; the engine may prepare it. */
  prepare(this: void, statement: Statement): void;
  /** The transaction was rolled back because of another one, and may be retried. */
  mayRunAgain(error: unknown): boolean;
  /** Held until the transaction ends. */
  lock(transaction: WriteTransaction, what: 'dependencies' | 'schedule' | 'migration'): Promise<void>;
  /** Writes all changes, as the last step of a transaction; listeners are notified at the commit. */
  write(
    transaction: WriteTransaction,
    statements: Statements,
    writes: readonly Write[],
    events: readonly EventRow[],
  ): Promise<void>;
  afterCommit(): void;
  onChange(wake: () => void): Promise<Subscription>;
  /** A consistent view without locks. */
  snapshot<T>(read: (db: Queries) => Promise<T>): Promise<T>;
  backUp(reason: SnapshotReason, at: Timestamp): Promise<BackedUp>;
  findDamage(): Promise<readonly string[]>;
  /** Absent where the board cannot go back to an earlier state behind its back. */
  readonly terms?: Terms | undefined;
  /** What the server promises; null for a file. */
  server(): Promise<Omit<BoardServer, 'term'> | null>;
  connection(): Promise<ConnectionFacts | null>;
  close(): Promise<void>;
}

export interface Terms {
  /** True while the server is the one of the last term. */
  readonly isCurrent: Expression<boolean>;
  list(db: Queries): Promise<readonly BoardTerm[]>;
  /** False when the last term is this server's. */
  begin(transaction: WriteTransaction, after: number, at: Timestamp): Promise<boolean>;
}

const MAX_PAUSE_MS = 25;

/** Retries the work while the engine asks for it, for at most `patienceMs`. */
export async function runPatiently<T>(
  engine: Pick<Engine, 'mayRunAgain' | 'location'>,
  patienceMs: number,
  work: () => Promise<T>,
): Promise<T> {
  // Uptime, because the clock may jump and `performance` has to be loaded first.
  const giveUpAt = process.uptime() * 1_000 + patienceMs;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!engine.mayRunAgain(error)) throw error;
      if (process.uptime() * 1_000 > giveUpAt) throw tooBusy(engine.location, patienceMs, error);
      await setTimeout(pauseMs(attempt));
    }
  }
}

/** Short at first, because a lock is usually held for less than a millisecond; random, so that all writers get a turn. */
function pauseMs(attempt: number): number {
  return backoffMs(attempt, { firstMs: 1, mostMs: MAX_PAUSE_MS }) * (0.5 + Math.random());
}

function tooBusy(location: string, patienceMs: number, cause: unknown): BoardUnavailable {
  return new BoardUnavailable(
    `The board at ${location} was locked for ${patienceMs / 1_000} s; nothing was changed.`,
    'copse doctor # to find a stopped process that holds it, if it stays locked',
    { cause },
  );
}
