/**
 * A lock between processes that the system gives back when its holder dies, however it dies.
 *
 * Node cannot lock files, but SQLite does: an immediate transaction on an empty file holds the lock of the operating
 * system and writes nothing.
 */

import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';

import { BoardUnavailable } from '../../ports/board.ts';

const PAUSE_MS = 8;

export async function withFileLock<T>(file: string, patienceMs: number, work: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + patienceMs;
  for (;;) {
    const done = await tryFileLock(file, work);
    if (done !== undefined) return done.value;
    if (performance.now() > giveUpAt) {
      throw new BoardUnavailable(
        `Another process has held ${file} for more than ${patienceMs / 1_000} s.`,
        'Try again; if it stays so, look for a copse process that hangs: copse doctor',
      );
    }
    await setTimeout(PAUSE_MS * (0.5 + Math.random()));
  }
}

/** Undefined when somebody else has it, in this process or another. */
export async function tryFileLock<T>(
  file: string,
  work: () => Promise<T>,
): Promise<{ readonly value: T } | undefined> {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const lock = new DatabaseSync(file, { timeout: 0 });
  try {
    if (!begin(lock)) return undefined;
    return { value: await work() };
  } finally {
    lock.close();
  }
}

function begin(lock: DatabaseSync): boolean {
  try {
    lock.exec('begin immediate');
    return true;
  } catch (error) {
    const BUSY = 5;
    if (error instanceof Error && 'errcode' in error && error.errcode === BUSY) return false;
    throw error;
  }
}
