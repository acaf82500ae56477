/** What the two engines do differently; everything else about a board is the same code. */

import { setTimeout } from 'node:timers/promises';

import { backoffMs } from '../../kernel/backoff.ts';
import { BoardUnavailable, type Subscription } from '../port.ts';
import type { ColumnTypes, Queries, WriteTransaction } from './schema.ts';
import type { Statement, Statements } from './statements.ts';
import type { EventRow, Write } from './writes.ts';

export interface Engine {
  readonly name: 'sqlite' | 'postgres';
  readonly location: string;
  readonly db: Queries;
  readonly columnTypes: ColumnTypes;
  /** SQLite's writers are alone anyway; PostgreSQL locks the rows it reads in order to change them. */
  readonly locksRows: boolean;
  hasBoard(db: Queries): Promise<boolean>;
  /** Commits when the work is done and rolls back when it fails. */
  transaction<T>(this: void, work: (transaction: WriteTransaction) => Promise<T>): Promise<T>;
  /** This text will come again and again: whatever the engine can do once for it, it should. */
  prepare(this: void, statement: Statement): void;
  /** The transaction was rolled back through no fault of its own and may be run again. */
  mayRunAgain(error: unknown): boolean;
  /** Held until the transaction ends. */
  lock(transaction: WriteTransaction, what: 'dependencies' | 'schedule' | 'migration'): Promise<void>;
  /** Everything that a transaction changes, last of all; those who listen hear of it when it is committed. */
  write(
    transaction: WriteTransaction,
    statements: Statements,
    writes: readonly Write[],
    events: readonly EventRow[],
  ): Promise<void>;
  afterCommit(): void;
  onChange(wake: () => void): Promise<Subscription>;
  /** A consistent view that blocks nobody. */
  snapshot<T>(read: (db: Queries) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const MAX_PAUSE_MS = 25;

/** Runs the work again while the engine asks for it and patience lasts. */
export async function runPatiently<T>(
  engine: Pick<Engine, 'mayRunAgain' | 'location'>,
  patienceMs: number,
  work: () => Promise<T>,
): Promise<T> {
  // Uptime, not the clock, which may jump; `performance` would have to be loaded first.
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

/** Short at first, because whoever holds the board does so for less than a millisecond; uneven, so that all get a turn. */
function pauseMs(attempt: number): number {
  return backoffMs(attempt, { firstMs: 1, mostMs: MAX_PAUSE_MS }) * (0.5 + Math.random());
}

function tooBusy(location: string, patienceMs: number, cause: unknown): BoardUnavailable {
  return new BoardUnavailable(
    `The board at ${location} was busy for ${patienceMs / 1_000} s, so nothing was changed.`,
    'Try again; if it stays so, look for a program that holds the board open: copse doctor',
    { cause },
  );
}
