/**
 * Copies of a SQLite board, in `.copse/backups`, readable by their owner only.
 *
 * A copy is made while others write, checked with `quick_check`, and gets its name only then: what has the name of a
 * snapshot is whole, and a damaged board never pushes out the last good copy. Older copies are deleted afterwards.
 *
 * The board's file is opened by SQLite alone. Opening and closing it here with `node:fs` would release the locks that this
 * process holds on it.
 */

import { chmodSync, closeSync, fsyncSync, lstatSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync, backup } from 'node:sqlite';

import type { Timestamp } from '../../kernel/ids.ts';
import { type Policy, defaultPolicy } from '../../kernel/policy.ts';
import { namesIn } from '../../kernel/system/names-in.ts';
import { syncFolder } from '../../kernel/system/write-atomically.ts';
import { migrations } from '../migrations/index.ts';
import { BoardUnavailable, type BackedUp } from '../port.ts';
import {
  type Snapshot,
  type SnapshotReason,
  decideRotation,
  parseSnapshot,
  snapshotName,
} from '../rules/snapshots.ts';
import { explaining } from './errors.ts';

/** Newest first. */
export function listSnapshots(file: string): readonly Snapshot[] {
  return namesIn(folderOf(file))
    .flatMap((name) => parseSnapshot(name) ?? [])
    .toSorted((one, other) => other.at - one.at);
}

export function snapshotFile(file: string, name: string): string {
  return path.join(folderOf(file), name);
}

interface BoardCopyRequest {
  readonly reason: SnapshotReason;
  readonly at: Timestamp;
  readonly kept: Policy['board']['snapshots'];
}

export async function takeSnapshot(file: string, { reason, at, kept }: BoardCopyRequest): Promise<BackedUp> {
  const folder = folderOf(file);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const name = snapshotName(at, reason);
  const problems = await copyBoard(file, path.join(folder, name));
  if (problems.length > 0) return { kind: 'damaged', problems };
  for (const old of decideRotation(listSnapshots(file), kept))
    rmSync(path.join(folder, old), { force: true });
  deleteHalves(folder, at);
  return { kind: 'backed_up', file: path.join(folder, name) };
}

/** Why the copy is not a whole board; then there is none. Replaces nothing. */
async function copyBoard(from: string, to: string): Promise<readonly string[]> {
  const partial = `${to}.${process.pid}.partial`;
  closeSync(openSync(partial, 'wx', 0o600));
  try {
    const source = new DatabaseSync(from, { readOnly: true, timeout: BUSY_MS });
    try {
      // All pages in one step: with several, each write of another process starts the copy anew.
      await explainingAsync(from, () => backup(source, partial, { rate: ALL_PAGES }));
    } finally {
      source.close();
    }
    const problems = whatIsWrong(partial);
    if (problems.length > 0) return problems;
    chmodSync(partial, 0o600);
    toDisk(partial);
    renameSync(partial, to);
    syncFolder(path.dirname(to));
    return [];
  } finally {
    for (const ending of ['', '-journal', '-wal', '-shm']) rmSync(`${partial}${ending}`, { force: true });
  }
}

const BUSY_MS = defaultPolicy.database.snapshotBusyMs;
const ALL_PAGES = 2 ** 31 - 1;

/** In a file of its own: a copy is no longer in write-ahead mode, which would put files beside it. */
function whatIsWrong(copy: string): readonly string[] {
  const database = new DatabaseSync(copy);
  try {
    database.exec('pragma journal_mode = delete');
    return quickCheck(database);
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  } finally {
    database.close();
  }
}

/** What SQLite finds wrong, at most a few; empty when it is whole. */
export function quickCheck(database: DatabaseSync): readonly string[] {
  try {
    const found = database.prepare(`pragma quick_check(${TOLD})`).all() as { quick_check: string }[];
    return found.map((row) => row.quick_check).filter((text) => text !== 'ok');
  } catch (error) {
    // Damaged so much that SQLite cannot even look.
    if (error instanceof Error && 'errcode' in error) return [error.message];
    throw error;
  }
}

const TOLD = 5;

export type BoardContent =
  | { readonly kind: 'board'; readonly version: number; readonly tasks: number; readonly events: number }
  | { readonly kind: 'unreadable'; readonly reason: string };

/** What is in a copy, for a person who chooses among several. */
export function contentOf(file: string): BoardContent {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { readOnly: true, timeout: BUSY_MS });
    const text = 'select version, last_event as events, (select count(*) from tasks) as tasks from board';
    const row = database.prepare(text).get() as Record<'version' | 'events' | 'tasks', number> | undefined;
    if (row === undefined) return { kind: 'unreadable', reason: 'it has no board' };
    if (row.version > migrations.length)
      return { kind: 'unreadable', reason: `a newer Copse wrote it (version ${row.version})` };
    return { kind: 'board', ...row };
  } catch (error) {
    return { kind: 'unreadable', reason: error instanceof Error ? error.message : String(error) };
  } finally {
    database?.close();
  }
}

/**
 * Puts a copy in the place of the board. What was there is moved to a folder of its own, with its log: the caller says
 * where. Nothing may use the board meanwhile.
 */
export async function putInPlace(file: string, from: string, at: Timestamp): Promise<string | null> {
  const fresh = `${file}.restored`;
  rmSync(fresh, { force: true });
  const problems = await copyBoard(from, fresh);
  if (problems.length > 0)
    throw new BoardUnavailable(
      `${from} is damaged, so nothing was restored: ${problems[0] ?? ''}.`,
      'copse board restore # to choose another snapshot',
    );
  const aside = setAside(file, at);
  renameSync(fresh, file);
  syncFolder(path.dirname(file));
  return aside;
}

/** The folder in which the board is now; null when there was none. */
export function setAside(file: string, at: Timestamp): string | null {
  const there = ['', '-wal', '-shm'].filter((ending) => isThere(`${file}${ending}`));
  if (there.length === 0) return null;
  const aside = path.join(folderOf(file), `aside-${snapshotName(at, 'asked').replace(/-asked\.db$/, '')}`);
  mkdirSync(aside, { recursive: true, mode: 0o700 });
  // The board first: a log without a board counts as a lost board, but a board without its log would be an older one.
  for (const ending of there)
    renameSync(`${file}${ending}`, path.join(aside, `${path.basename(file)}${ending}`));
  syncFolder(aside);
  return aside;
}

/** Left by kills. */
function deleteHalves(folder: string, now: Timestamp): void {
  for (const name of namesIn(folder)) {
    const file = path.join(folder, name);
    const isOld = now - (lstatSync(file, { throwIfNoEntry: false })?.mtimeMs ?? now) > HALF_MS;
    if (isOld && /\.partial(?:-\w+)?$/.test(name)) rmSync(file, { force: true });
  }
}

const HALF_MS = defaultPolicy.leftovers.snapshotMs;

function folderOf(file: string): string {
  return path.join(path.dirname(file), 'backups');
}

function toDisk(file: string): void {
  const opened = openSync(file, 'r+');
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}

async function explainingAsync<T>(file: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    return explaining(file, () => {
      throw error;
    });
  }
}

function isThere(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}
