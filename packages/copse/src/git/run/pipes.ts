/**
 * Named pipes, sockets and devices in the place of files that git reads.
 *
 * Git opens a file without looking what it is: a pipe that no program writes to keeps it for ever, and every task that
 * needs the same refs or objects. Agents can make one anywhere. In the repository's git directory nothing but files and
 * folders belongs, and such an entry holds no data, so Copse removes it: git then sees that the file is missing. In a
 * worktree Copse removes nothing; git is ended, and the error names the entry.
 */

import {
  type Dirent,
  type Stats,
  closeSync,
  constants,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import path from 'node:path';

import { defaultPolicy } from '../../kernel/policy.ts';

/** Every git reads these, so they are looked at before it starts. */
const READ_BY_EVERY_GIT = ['packed-refs', 'info/exclude', 'objects/info/alternates'] as const;

export function removeKnownPipes(commonDir: string): void {
  for (const name of READ_BY_EVERY_GIT) {
    const file = path.join(commonDir, name);
    if (isSpecial(statSync(file, { throwIfNoEntry: false }))) removeSpecial(file);
  }
}

/**
 * Looks at everything in the repository's git directory. True when it removed something. No git reads the stores of agents in
 * `copse`, and a folder there may become a link to the repository's objects at any moment.
 */
export function removePipes(commonDir: string): boolean {
  let hasRemoved = false;
  for (const file of specialFilesIn(commonDir, MOST_ENTRIES, path.join(commonDir, 'copse'))) {
    removeSpecial(file);
    hasRemoved = true;
  }
  return hasRemoved;
}

/** A program that waits for a pipe waits for ever once the name is gone, so it first gets what it waits for, and reads nothing. */
function removeSpecial(file: string): void {
  const otherEnd = openPipe(file);
  rmSync(file, { force: true });
  if (otherEnd !== undefined) closeSync(otherEnd);
}

function openPipe(file: string): number | undefined {
  const { O_RDWR, O_NONBLOCK, O_NOCTTY } = constants;
  try {
    return statSync(file).isFIFO() ? openSync(file, O_RDWR | O_NONBLOCK | O_NOCTTY) : undefined;
  } catch {
    // It is gone, or this process may not open it.
    return undefined;
  }
}

const MOST_ENTRIES = defaultPolicy.pipes.entries;

/** The first one of a worktree under a name that git reads, for a message. */
export function findPipe(worktree: string): string | undefined {
  for (const file of specialFilesIn(worktree, MOST_LOOKED_AT)) {
    if (READ_IN_WORKTREES.has(path.basename(file))) return file;
  }
  return undefined;
}

const MOST_LOOKED_AT = defaultPolicy.pipes.lookedAt;
const READ_IN_WORKTREES: ReadonlySet<string> = new Set([
  '.git',
  '.gitignore',
  '.gitattributes',
  '.gitmodules',
]);

function* specialFilesIn(folder: string, most: number, except?: string): Generator<string> {
  const folders = [folder];
  let left = most;
  for (let at = folders.pop(); at !== undefined && left > 0; at = folders.pop()) {
    for (const entry of entriesOf(at)) {
      left -= 1;
      const place = path.join(at, entry.name);
      if (place === except) continue;
      if (entry.isDirectory()) folders.push(place);
      else if (!entry.isFile() && (!entry.isSymbolicLink() || leadsToSpecial(place))) yield place;
    }
  }
}

/** None when the folder is gone or may not be read. */
function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function leadsToSpecial(link: string): boolean {
  try {
    return isSpecial(statSync(link, { throwIfNoEntry: false }));
  } catch {
    return false;
  }
}

function isSpecial(found: Stats | undefined): boolean {
  return found !== undefined && !found.isFile() && !found.isDirectory();
}

/** Whether a process, or a child of it, is opening a pipe whose other end no program has. Only Linux tells. */
export function isOpeningPipe(pid: number): boolean {
  return (
    /^(?:wait_for_partner|fifo_open)/.test(procFile(`${pid}/wchan`)) || childrenOf(pid).some(isOpeningPipe)
  );
}

function childrenOf(pid: number): readonly number[] {
  return procFile(`${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
}

function procFile(name: string): string {
  try {
    return readFileSync(`/proc/${name}`, 'latin1');
  } catch {
    return '';
  }
}
