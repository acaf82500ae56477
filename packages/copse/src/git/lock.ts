/**
 * A lock between processes that the system gives back when its holder dies, however it dies.
 *
 * Node cannot lock files, but SQLite does: an immediate transaction on an empty file holds the lock of the operating
 * system and writes nothing.
 *
 * What is locked is a file that anybody may delete. Whoever does so while it is held lets the next one in beside its
 * holder; there is nothing in a file that could prevent that.
 */

import { closeSync, lstatSync, mkdirSync, openSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';

import { RepositoryUnavailable } from './unavailable.ts';
import { hasCode } from '../kernel/system/error-code.ts';

const PAUSE_MS = 8;

export async function withFileLock<T>(file: string, patienceMs: number, work: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + patienceMs;
  for (;;) {
    const done = await tryFileLock(file, work);
    if (done !== undefined) return done.value;
    if (performance.now() > giveUpAt) {
      throw new RepositoryUnavailable(
        `Another process has held ${file} for more than ${patienceMs / 1_000} s.`,
        'Try again; if it stays so, look for a copse process that hangs: copse doctor',
      );
    }
    await setTimeout(PAUSE_MS * (0.5 + Math.random()));
  }
}

/**
 * Undefined when somebody else has it, in this process or another.
 *
 * A lock is on a file, not on its name. Where somebody deleted the file between opening and locking it, the name leads to
 * another one by then, or to none, and the next one to come would get that; so it is tried again with what is there.
 * `onOpened` is for tests.
 */
export async function tryFileLock<T>(
  file: string,
  work: () => Promise<T>,
  onOpened: () => void = () => {},
): Promise<{ readonly value: T } | undefined> {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  for (;;) {
    const before = makeFile(file);
    const lock = new DatabaseSync(file, { timeout: 0 });
    try {
      onOpened();
      const isHeld = begin(lock, () => before !== undefined && inodeOf(file) === before);
      if (isHeld === false) return undefined;
      if (isHeld) return { value: await work() };
    } finally {
      lock.close();
    }
  }
}

/** Never opened where it exists: closing it again would give up every lock that this process has on it. */
function makeFile(file: string): bigint | undefined {
  const known = inodeOf(file);
  if (known !== undefined) return known;
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
  return inodeOf(file);
}

function inodeOf(file: string): bigint | undefined {
  return lstatSync(file, { bigint: true, throwIfNoEntry: false })?.ino;
}

/** Undefined when the file is not the one of that name any more, which SQLite itself may find out first. */
function begin(lock: DatabaseSync, isInPlace: () => boolean): boolean | undefined {
  try {
    lock.exec('begin immediate');
    return isInPlace() ? true : undefined;
  } catch (error) {
    const BUSY = 5;
    if (!isInPlace()) return undefined;
    if (error instanceof Error && 'errcode' in error && error.errcode === BUSY) return false;
    throw error;
  }
}
