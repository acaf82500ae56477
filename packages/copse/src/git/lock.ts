/**
 * A lock between processes that the system releases when its holder dies.
 *
 * Node cannot lock files, but SQLite can: an immediate transaction on an empty file holds the operating system's lock and
 * writes nothing. Deleting the file while it is locked lets a second process in; a lock file cannot prevent that.
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
        'copse doctor # to find a copse process that hangs, if it happens again',
      );
    }
    await setTimeout(PAUSE_MS * (0.5 + Math.random()));
  }
}

/**
 * Undefined when the lock is held, in this process or another.
 *
 * A lock belongs to a file, not to its name. If the file was deleted between opening and locking, the name leads to another
 * file or to none, and the next process would lock that one; so this retries with the present file. `onOpened` is for tests.
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

/** Never opens an existing file: closing it would release every lock that this process holds on it. */
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

/** Undefined when the name leads to another file by now; SQLite may notice that first. */
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
