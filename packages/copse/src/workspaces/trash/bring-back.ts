/**
 * Moves the remaining files of a removed worktree, ignored files above all, into a new one.
 *
 * No file is overwritten and no link is followed. A file whose path is taken stays in the trash and is named, unless the
 * other file has the same content.
 */

import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  lstatSync,
  openSync,
  readSync,
  readdirSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';

import type { TrashEntry } from '../ports/trash.ts';
import { hasCode } from '../../kernel/system/error-code.ts';

export interface BroughtBack {
  /** Files, links and whole folders that were moved. */
  readonly moved: readonly string[];
  /** Another file has these paths. */
  readonly inTheWay: readonly string[];
}

export function fromTrash({ files }: Pick<TrashEntry, 'files'>, worktree: string): BroughtBack {
  const moved: Buffer[] = [];
  const inTheWay: Buffer[] = [];
  if (!isFolder(worktree)) throw new Error(`${worktree} is not a folder: prepare the worktree first.`);
  if (isFolder(files)) bringFolder(Buffer.from(files), Buffer.from(worktree), Buffer.alloc(0));
  return { moved: moved.map(String), inTheWay: inTheWay.map(String) };

  // Names are bytes: a file system does not promise text.
  function bringFolder(from: Buffer, to: Buffer, relative: Buffer): void {
    for (const name of readdirSync(from, { encoding: 'buffer' })) {
      // The worktree has its own link to git.
      if (relative.length === 0 && name.equals(GIT)) continue;
      bring(join(from, name), join(to, name), relative.length === 0 ? name : join(relative, name));
    }
  }

  function bring(from: Buffer, to: Buffer, relative: Buffer): void {
    const source = lstatSync(from);
    const target = lstatSync(to, { throwIfNoEntry: false });
    if (target === undefined) {
      if (move(from, to, source)) moved.push(relative);
      else inTheWay.push(relative);
    } else if (source.isDirectory() && target.isDirectory()) {
      bringFolder(from, to, relative);
    } else if (!isSame(from, to, source, target)) {
      inTheWay.push(relative);
    }
  }
}

type Kind = Pick<ReturnType<typeof lstatSync> & object, 'isDirectory' | 'isSymbolicLink' | 'isFile'>;

/** Fails if something appeared at the path meanwhile; a folder replaces at most an empty one. */
function move(from: Buffer, to: Buffer, source: Kind): boolean {
  try {
    if (source.isDirectory()) {
      renameSync(from, to);
      return true;
    }
    if (source.isSymbolicLink()) symlinkSync(readlinkSync(from, { encoding: 'buffer' }), to);
    else linkSync(from, to);
    unlinkSync(from);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST', 'ENOTEMPTY', 'ENOTDIR', 'EISDIR')) return false;
    throw error;
  }
}

const GIT = Buffer.from('.git');

function isSame(from: Buffer, to: Buffer, source: Kind, target: Kind): boolean {
  if (source.isSymbolicLink() && target.isSymbolicLink()) {
    return readlinkSync(from, { encoding: 'buffer' }).equals(readlinkSync(to, { encoding: 'buffer' }));
  }
  return source.isFile() && target.isFile() && haveSameBytes(from, to);
}

function haveSameBytes(one: Buffer, other: Buffer): boolean {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const files = [openSync(one, flags), openSync(other, flags)] as const;
  try {
    const [left, right] = files;
    if (fstatSync(left).size !== fstatSync(right).size) return false;
    const buffers = [Buffer.alloc(CHUNK_BYTES), Buffer.alloc(CHUNK_BYTES)] as const;
    for (;;) {
      const read = readSync(left, buffers[0]);
      if (readSync(right, buffers[1]) !== read) return false;
      if (read === 0) return true;
      if (!buffers[0].subarray(0, read).equals(buffers[1].subarray(0, read))) return false;
    }
  } finally {
    for (const file of files) closeSync(file);
  }
}

const CHUNK_BYTES = 64 * 1024;

function isFolder(place: string): boolean {
  return lstatSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
}

function join(folder: Buffer, name: Buffer): Buffer {
  return Buffer.concat([folder, SLASH, name]);
}

const SLASH = Buffer.from('/');
