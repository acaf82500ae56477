/**
 * Worktrees as git knows them: one folder each under `worktrees/` of the repository's git directory.
 *
 *   gitdir     the worktree's `.git` file        HEAD    its branch, or a commit
 *   commondir  the way back                      locked  why nobody may prune it
 *
 * Copse writes these folders itself. `git worktree add` would run hooks, and it makes them file by file, so that others
 * who look at the same moment fail; here a folder appears whole, by one rename.
 */

import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';

import { readIfThere } from '../../kernel/system/read-if-there.ts';

export interface Registration {
  readonly name: string;
  readonly gitDir: string;
  /** Where git believes the worktree to be. */
  readonly path: string;
}

/** While this file is there, the checkout has not been finished. */
export const UNFINISHED = 'copse-unfinished';

export function registrations(commonDir: string): readonly Registration[] {
  const folder = path.join(commonDir, 'worktrees');
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => registrationNamed(commonDir, name) ?? []);
}

export function registrationNamed(commonDir: string, name: string): Registration | undefined {
  const gitDir = path.join(commonDir, 'worktrees', name);
  const file = readIfThere(path.join(gitDir, 'gitdir'))?.replace(/[\r\n]+$/, '');
  return file ? { name, gitDir, path: path.dirname(path.resolve(gitDir, file)) } : undefined;
}

/** An agent can write any place into its own registration, so the one with the folder's name goes first. */
export function registrationAt(commonDir: string, worktree: string): Registration | undefined {
  const wanted = placeOf(worktree);
  const all = registrations(commonDir).filter((one) => placeOf(one.path) === wanted);
  return all.find(({ name }) => isNamedFor(name, worktree)) ?? all[0];
}

/** `<folder>`, or with a number where that was in use; entries of the pool are folders with a number for a name. */
function isNamedFor(name: string, worktree: string): boolean {
  const folder = path.basename(worktree);
  return (
    name === folder ||
    name === `copse-pool-${folder}` ||
    (name.startsWith(`${folder}-`) && /^\d+$/.test(name.slice(folder.length + 1)))
  );
}

/** Links on the way are followed; the worktree itself must not be one, or it would be somebody else's. */
function placeOf(worktree: string): string {
  return path.join(canonical(path.dirname(worktree)), path.basename(worktree));
}

/** The registration that a worktree's `.git` file leads to, if it belongs to this repository and leads back. */
export function registrationOf(
  commonDir: string,
  worktree: string,
): { readonly found: Registration } | { readonly why: string } {
  const folder = lstatSync(worktree, { throwIfNoEntry: false });
  if (folder?.isDirectory() === false) return { why: 'it is not a folder' };
  const entry = path.join(worktree, '.git');
  const kind = lstatSync(entry, { throwIfNoEntry: false });
  if (kind === undefined) return { why: 'it has no .git file' };
  if (!kind.isFile()) return { why: 'its .git is not the file that a worktree has' };
  const [, named] = /^gitdir: (.+?)[\r\n]*$/s.exec(readFileSync(entry, 'utf8')) ?? [];
  if (named === undefined) return { why: 'its .git file does not name a git directory' };
  const gitDir = path.resolve(worktree, named);
  if (canonical(path.dirname(gitDir)) !== canonical(path.join(commonDir, 'worktrees'))) {
    return { why: `its .git file leads to ${gitDir}, which does not belong to this repository` };
  }
  const found = registrationNamed(commonDir, path.basename(gitDir));
  if (found === undefined) return { why: 'git does not know it any more' };
  if (placeOf(found.path) !== placeOf(worktree)) {
    return { why: `git knows ${found.name} as the worktree at ${found.path}` };
  }
  return { found };
}

export interface NewRegistration {
  readonly name: string;
  readonly path: string;
  readonly head: string;
  readonly reason: string;
}

const FRESH = 'copse-new-';

/** Undefined when the name is in use. */
export function register(
  commonDir: string,
  { name, path: worktree, head, reason }: NewRegistration,
): Registration | undefined {
  const gitDir = path.join(commonDir, 'worktrees', name);
  if (existsSync(gitDir)) return undefined;
  mkdirSync(path.dirname(gitDir), { recursive: true });
  // Whoever registers holds the repository's lock, so these are of processes that were killed.
  for (const left of readdirSync(commonDir)) {
    if (left.startsWith(FRESH)) rmSync(path.join(commonDir, left), { recursive: true, force: true });
  }
  const fresh = path.join(commonDir, `${FRESH}${name}-${process.pid}`);
  mkdirSync(fresh);
  const files = {
    locked: reason,
    [UNFINISHED]: '',
    commondir: '../..',
    gitdir: path.join(worktree, '.git'),
    HEAD: head,
  };
  for (const [file, text] of Object.entries(files)) writeFileSync(path.join(fresh, file), `${text}\n`);
  try {
    renameSync(fresh, gitDir);
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    if (existsSync(gitDir)) return undefined;
    throw error;
  }
  writeFileSync(path.join(worktree, '.git'), `gitdir: ${gitDir}\n`);
  return { name, gitDir, path: worktree };
}

/**
 * After the repository was moved, worktree and registration name places that are gone. They are put right when the
 * registration's own place no longer exists and it has the folder's name, so that nobody else's worktree can be taken for
 * this one.
 */
export async function repairMoved(commonDir: string, worktree: string): Promise<boolean> {
  const entry = path.join(worktree, '.git');
  if (!lstatSync(worktree, { throwIfNoEntry: false })?.isDirectory()) return false;
  if (!lstatSync(entry, { throwIfNoEntry: false })?.isFile()) return false;
  const [, named] = /^gitdir: (.+?)[\r\n]*$/s.exec(readFileSync(entry, 'utf8')) ?? [];
  if (named === undefined || !('why' in registrationOf(commonDir, worktree))) return false;
  const found = registrationNamed(commonDir, path.basename(named));
  if (found === undefined || !isNamedFor(found.name, worktree)) return false;
  if (existsSync(path.join(found.path, '.git'))) return false;
  await writeFile(path.join(found.gitDir, 'gitdir'), `${entry}\n`);
  await writeFile(entry, `gitdir: ${found.gitDir}\n`);
  return true;
}

export function canonical(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    // Gone, or never there: its parent may still be a link.
    const parent = path.dirname(folder);
    return parent === folder ? folder : path.join(canonical(parent), path.basename(folder));
  }
}
