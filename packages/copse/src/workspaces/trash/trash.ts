/**
 * Removed worktrees wait in the trash, whole, until they are old enough.
 *
 *   .copse/trash/<utc time>-<task>/
 *     record.json   what was removed, and when; written before anything is moved, deleted last
 *     files         the folder of the worktree
 *     gitdir        its registration with git: index, HEAD, reflog
 *
 * A removal is two renames, first the files, then the git directory. A crash leaves one of these states, and repeating the
 * removal continues from there:
 *
 *   record only              nothing has happened yet; the next call asks the gate again
 *   record, files            git still knows a worktree whose folder is absent
 *   record, files, gitdir    done
 *
 * A rename cannot cross file systems. A worktree on another one goes to a trash beside it, and the record says where. If
 * that fails too, nothing is removed, copied or deleted.
 */

import { lstatSync, mkdirSync, renameSync, rmdirSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import type { TrashEntry, TrashRecord } from '../ports/trash.ts';
import { hasCode } from '../../kernel/system/error-code.ts';
import { removeTree } from '../../kernel/system/remove-tree.ts';
import { readIfPlain } from '../../kernel/system/plain-file.ts';
import { namesIn } from '../../kernel/system/names-in.ts';
import { RECORD, isThere, listTrash, readEntry, trashFolder, writeEntry } from './entry.ts';

export type TrashStep = 'recorded' | 'files_moved' | 'git_dir_moved';

export interface Removal {
  /** Where `.copse/` is. */
  readonly home: string;
  readonly path: string;
  /** `<common directory>/worktrees/<name>`, or null if git does not know the worktree. */
  readonly gitDir: string | null;
  readonly record: TrashRecord;
  readonly onStep?: (step: TrashStep) => void;
}

export type Trashed =
  | { readonly kind: 'moved'; readonly entry: TrashEntry }
  /** Another file is at the path, or the system refused; nothing was moved. */
  | { readonly kind: 'not_moved'; readonly reason: string };

/** May be repeated: the same record means the same entry, and a removal that was interrupted halfway is finished. */
export function toTrash({ home, path: worktree, gitDir, record, onStep }: Removal): Trashed {
  let entry = findHalfDone(home, worktree, gitDir) ?? newEntry(home, worktree, gitDir, record);
  const { folder } = entry;
  writeEntry(entry);
  onStep?.('recorded');

  const files = moveOnce(worktree, entry.files);
  if (files === 'other_file_system' && entry.files === path.join(folder, 'files')) {
    // One device, yet two file systems to the kernel: a bind mount.
    entry = { ...entry, files: path.join(besideFiles(worktree), path.basename(folder), 'files') };
    writeEntry(entry);
    const again = moveOnce(worktree, entry.files);
    if (again !== 'moved') return notMoved(worktree, again);
  } else if (files !== 'moved') {
    return notMoved(worktree, files);
  }
  onStep?.('files_moved');

  if (gitDir !== null) {
    const moved = moveOnce(gitDir, entry.gitDir);
    if (moved !== 'moved') return notMoved(gitDir, moved);
  }
  onStep?.('git_dir_moved');
  return { kind: 'moved', entry };
}

/** A removal that was killed after it moved the files: their git directory belongs to the same entry. */
function findHalfDone(home: string, worktree: string, gitDir: string | null): TrashEntry | undefined {
  if (gitDir === null || isThere(worktree)) return undefined;
  return listTrash(home).findLast((entry) => entry.gitDirWas === gitDir && stateOf(entry).isHalfDone);
}

function newEntry(home: string, worktree: string, gitDir: string | null, record: TrashRecord): TrashEntry {
  for (let number = 1; ; number += 1) {
    const folder = path.join(trashFolder(home), entryName(record, number));
    makeFolder(folder);
    const known = readEntry(folder);
    if (known !== undefined) {
      if (isDeepStrictEqual(known.record, record)) return known;
      continue;
    }
    if (namesIn(folder).some((name) => name === 'files' || name === 'gitdir')) continue;
    const filesIn = chooseFolder(worktree, folder, besideFiles(worktree));
    const gitDirIn = gitDir === null ? folder : chooseFolder(gitDir, folder, besideGitDir(gitDir));
    return {
      folder,
      record,
      files: path.join(filesIn, 'files'),
      gitDir: path.join(gitDirIn, 'gitdir'),
      gitDirWas: gitDir,
      isRetired: false,
      isBegun: false,
      isThin: false,
      isKept: false,
    };
  }
}

export interface TrashState {
  readonly hasFiles: boolean;
  readonly hasGitDir: boolean;
  /** The files are in the trash and git still has the worktree registered: `toTrash` must finish the removal. */
  readonly isHalfDone: boolean;
}

export function stateOf({ record, files, gitDir, gitDirWas }: TrashEntry): TrashState {
  const hasFiles = isThere(files);
  const hasGitDir = isThere(gitDir);
  const isRegistered = gitDirWas !== null && registeredPath(gitDirWas) === record.path;
  // The task may have a new worktree under the same name.
  return { hasFiles, hasGitDir, isHalfDone: hasFiles && !hasGitDir && isRegistered && !isThere(record.path) };
}

/** The path that git has registered: another worktree may have the name by now. */
function registeredPath(gitDir: string): string | undefined {
  const text = readIfPlain(path.join(gitDir, 'gitdir'));
  return text === undefined ? undefined : path.dirname(path.resolve(gitDir, text.trimEnd()));
}

/** The record goes last, so that an interrupted deletion can be repeated. */
export async function deleteTrash({ folder, files, gitDir }: TrashEntry): Promise<void> {
  for (const part of [files, gitDir]) {
    await removeTree(part);
    const holder = path.dirname(part);
    if (holder !== folder) removeFolders([holder, path.dirname(holder)]);
  }
  for (const name of namesIn(folder).filter((one) => one !== RECORD))
    await removeTree(path.join(folder, name));
  await removeTree(path.join(folder, RECORD));
  removeFolders([folder]);
}

/** Sorts by time and is a valid name on every file system. */
function entryName({ at, task }: TrashRecord, number: number): string {
  const name = `${new Date(at).toISOString().replaceAll(/[-:.]/g, '')}-${task}`;
  return number === 1 ? name : `${name}-${number}`;
}

function besideFiles(worktree: string): string {
  return path.join(path.dirname(worktree), '.copse-trash');
}

/** Not in `worktrees/` itself: git prunes folders there that are not worktrees. */
function besideGitDir(gitDir: string): string {
  return path.join(path.dirname(path.dirname(gitDir)), 'copse-trash');
}

function chooseFolder(source: string, folder: string, beside: string): string {
  const found = lstatSync(source, { throwIfNoEntry: false });
  const isNear = found === undefined || found.dev === lstatSync(folder).dev;
  return isNear ? folder : path.join(beside, path.basename(folder));
}

type EntryMove = 'moved' | 'other_file_system' | { readonly failed: string };

/** Moves the entry, a link as a link, unless a killed call has done so. Never onto or into anything. */
function moveOnce(from: string, to: string): EntryMove {
  const source = lstatSync(from, { throwIfNoEntry: false });
  if (source === undefined) return 'moved';
  if (isThere(to)) return { failed: `${to} already exists` };
  try {
    makeFolder(path.dirname(to));
    renameSync(from, to);
    return 'moved';
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'EXDEV' ? 'other_file_system' : { failed: message };
  }
}

function notMoved(what: string, move: Exclude<EntryMove, 'moved'>): Trashed {
  const why = move === 'other_file_system' ? 'no trash is on its file system' : move.failed;
  return { kind: 'not_moved', reason: `${what} could not be moved to the trash: ${why}.` };
}

/** Throws if a link is on the path: it would lead elsewhere. */
function makeFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const one of [folder, path.dirname(folder)]) {
    if (lstatSync(one).isDirectory()) continue;
    throw new Error(`${one} is a link and not a folder, so nothing is moved there. Remove the link.`);
  }
}

function removeFolders(folders: readonly string[]): void {
  for (const folder of folders) {
    try {
      rmdirSync(folder);
    } catch (error) {
      if (!hasCode(error, 'ENOENT', 'ENOTEMPTY', 'EEXIST')) throw error;
    }
  }
}
