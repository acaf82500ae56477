/**
 * Named pipes, sockets and devices in the place of files that git reads.
 *
 * Git opens a file without looking what it is: a pipe that no program writes to keeps it for ever, and every task that
 * needs the same refs or objects. Agents can make one anywhere. In the repository's git directory nothing but files and
 * folders belongs, and such an entry holds no data, so Copse removes it: git then sees that the file is missing. In a
 * worktree Copse removes nothing; git is ended, and the error names the entry.
 *
 * An agent can exchange a folder that it can write for a link at any moment. So an entry is looked at again and removed in a
 * folder that was opened without following a link, from the git directory down.
 */

import {
  type Dirent,
  type Stats,
  closeSync,
  constants,
  lstatSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  rmdirSync,
  statSync,
  unlinkSync,
} from 'node:fs';
import path from 'node:path';

import { defaultPolicy } from '../../kernel/policy.ts';
import { hasHandles, inFolder } from '../../kernel/system/in-folder.ts';

/** Every git reads these, so they are looked at before it starts. */
const READ_BY_EVERY_GIT = ['packed-refs', 'info/exclude', 'objects/info/alternates'] as const;

export function removeKnownPipes(commonDir: string): void {
  for (const name of READ_BY_EVERY_GIT) {
    if (leadsToSpecial(path.join(commonDir, name))) removeSpecial(commonDir, name);
  }
}

/**
 * Looks at everything in the repository's git directory. True when it removed something. No git reads the stores of agents in
 * `copse`, and a folder there may become a link to the repository's objects at any moment.
 */
export function removePipes(commonDir: string): boolean {
  let hasRemoved = false;
  for (const file of specialFilesIn(commonDir, MOST_ENTRIES, path.join(commonDir, 'copse'))) {
    if (removeSpecial(commonDir, path.relative(commonDir, file))) hasRemoved = true;
  }
  return hasRemoved;
}

/** False when the entry is no longer special, is in a folder that is no longer one, or cannot be removed. */
function removeSpecial(commonDir: string, relative: string): boolean {
  const folders = relative.split(path.sep);
  const name = folders.pop() ?? '';
  try {
    return inFolder(commonDir, folders, (folder) => {
      const file = path.join(folder, name);
      if (!leadsToSpecial(file)) return false;
      const remove = hasHandles ? unlinkSync : (moved: string) => removeElsewhere(commonDir, moved);
      wakeAndRemove(file, remove);
      return true;
    });
  } catch {
    return false;
  }
}

/** A program that waits for a pipe waits for ever once the name is gone, so it first gets what it waits for, and reads nothing. */
function wakeAndRemove(file: string, remove: (file: string) => void): void {
  const otherEnd = openPipe(file);
  try {
    remove(file);
  } finally {
    if (otherEnd !== undefined) closeSync(otherEnd);
  }
}

/** A link is not followed: the pipe that it leads to may be a person's. */
function openPipe(file: string): number | undefined {
  const { O_RDWR, O_NONBLOCK, O_NOCTTY, O_NOFOLLOW } = constants;
  try {
    return lstatSync(file).isFIFO() ? openSync(file, O_RDWR | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW) : undefined;
  } catch {
    // It is gone, or this process may not open it.
    return undefined;
  }
}

/**
 * Without handles, the path may lead elsewhere by now. So the entry is moved to where agents cannot write, and deleted only if
 * it is special there too; another file stays there, and nothing is lost.
 */
function removeElsewhere(commonDir: string, file: string): void {
  const folder = mkdtempSync(path.join(commonDir, 'copse', 'removed-'));
  const moved = path.join(folder, 'entry');
  renameSync(file, moved);
  if (!leadsToSpecial(moved)) return;
  rmSync(moved);
  rmdirSync(folder);
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

/** Of an entry, or of the target of a link. */
function leadsToSpecial(entry: string): boolean {
  try {
    return isSpecial(statSync(entry, { throwIfNoEntry: false }));
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
