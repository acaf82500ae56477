/**
 * Lists the gits that may hold a lock of one repository: those that run inside it or one of its worktrees, and those that an
 * argument or a variable points to it. A git in another repository holds none of its locks.
 *
 * Folders are compared by inode, as the process sees them, so that a process in a container with other mounts is recognised.
 * A process that Copse may not inspect, because another user runs it, counts as a possible holder.
 */

import { readFileSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';

import { hasCode } from '../kernel/system/error-code.ts';
import type { TrustedDir } from './process.ts';
import { readIfThere } from '../kernel/system/plain-file.ts';

export const canListHolders = process.platform === 'linux';

/** By pid and start time. */
export function possibleHolders(dir: TrustedDir): Set<string> {
  const folders = foldersOf(dir);
  const found = new Set<string>();
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    try {
      if (!mayChangeRefs(pid)) continue;
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      const [state, began] = [0, 19].map((field) => stat.slice(stat.lastIndexOf(')') + 2).split(' ')[field]);
      if (state !== 'Z' && state !== 'X' && worksOn(pid, folders)) found.add(`${pid} ${began}`);
    } catch {
      // The process has ended.
    }
  }
  return found;
}

function mayChangeRefs(pid: string): boolean {
  if (!/^git(-|$)/m.test(readFileSync(`/proc/${pid}/comm`, 'utf8'))) return false;
  return !LONG_LIVED.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
}

/** A long-lived git that answers questions runs for as long as its caller, and holds no lock. */
const LONG_LIVED =
  /\0(?:--stdin|--batch(?:-check|-command)?|daemon|fsmonitor--daemon|credential-cache--daemon)\0/;

/** The repository, Copse's own directories for it and every worktree, by inode. */
function foldersOf({ commonDir, home, plain, raw }: TrustedDir): ReadonlySet<string> {
  const registrations = path.join(commonDir, 'worktrees');
  const names = orElse([], () => readdirSync(registrations));
  const worktrees = names.flatMap((name) =>
    orElse([], () => [path.dirname(readIfThere(path.join(registrations, name, 'gitdir'))?.trimEnd() ?? '')]),
  );
  const all = [commonDir, home, plain, raw, ...worktrees];
  return new Set(all.flatMap((folder) => orElse([], () => [inodeOf(folder)])));
}

function worksOn(pid: string, folders: ReadonlySet<string>): boolean {
  try {
    if (isInside(`/proc/${pid}/cwd`, folders)) return true;
    return namedPlaces(pid).some((place) => isInside(place, folders));
  } catch (error) {
    return !hasCode(error, 'ENOENT', 'ESRCH');
  }
}

/** Every path among its arguments and git's variables. Relative ones start at its current folder. */
function namedPlaces(pid: string): readonly string[] {
  const wordsOf = (name: string) => readFileSync(`/proc/${pid}/${name}`, 'utf8').split('\0');
  const values = wordsOf('environ').filter((variable) => variable.startsWith('GIT_'));
  return [...wordsOf('cmdline'), ...values]
    .map((word) => word.replace(/^[-\w]+=/, ''))
    .filter((word) => word.includes('/'))
    .map((word) => (path.isAbsolute(word) ? `/proc/${pid}/root${word}` : `/proc/${pid}/cwd/${word}`));
}

/** Git cannot handle deeper paths. */
const DEEPEST = 256;

/** The system resolves `..`, because the process may see other parent folders. */
function isInside(place: string, folders: ReadonlySet<string>): boolean {
  let before = '';
  for (let at = place, depth = 0; depth < DEEPEST; at += '/..', depth += 1) {
    const inode = orElse(undefined, () => inodeOf(at));
    if (inode === undefined || inode === before) return false;
    if (folders.has(inode)) return true;
    before = inode;
  }
  return false;
}

function inodeOf(file: string): string {
  const { dev, ino } = statSync(file, { bigint: true });
  return `${dev} ${ino}`;
}

/** For files that are absent, or deleted meanwhile. */
function orElse<T>(otherwise: T, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG')) return otherwise;
    throw error;
  }
}
