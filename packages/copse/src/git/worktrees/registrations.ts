/**
 * Git's registrations of worktrees: one folder each under `worktrees/` of the repository's git directory.
 *
 *   gitdir     the worktree's `.git` file        HEAD    its branch, or a commit
 *   commondir  the path back                     locked  the reason not to prune it
 *
 * Copse writes these folders itself. `git worktree add` would run hooks, and it makes them file by file, so that other gits
 * fail at the same moment; here a folder appears by one rename.
 */

import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';

import { readIfPlain } from '../../kernel/system/plain-file.ts';

export interface Registration {
  readonly name: string;
  readonly gitDir: string;
  /** The worktree's path in git's registration. */
  readonly path: string;
}

/** While this file exists, the checkout is incomplete. */
export const UNFINISHED = 'copse-unfinished';

export function registrations(commonDir: string): readonly Registration[] {
  const folder = path.join(commonDir, 'worktrees');
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => registrationNamed(commonDir, name) ?? []);
}

export function registrationNamed(commonDir: string, name: string): Registration | undefined {
  const gitDir = path.join(commonDir, 'worktrees', name);
  const file = readIfPlain(path.join(gitDir, 'gitdir'))?.replace(/[\r\n]+$/, '');
  return file ? { name, gitDir, path: path.dirname(path.resolve(gitDir, file)) } : undefined;
}

/** An agent can write any path into its own registration, so the one with the folder's name has priority. */
export function registrationAt(commonDir: string, worktree: string): Registration | undefined {
  const wanted = placeOf(worktree);
  const all = registrations(commonDir).filter((one) => placeOf(one.path) === wanted);
  return all.find(({ name }) => isNamedFor(name, worktree)) ?? all[0];
}

/** `<folder>`, or with a number if that name was in use. Folders of the pool are named by a number. */
function isNamedFor(name: string, worktree: string): boolean {
  const folder = path.basename(worktree);
  return (
    name === folder ||
    name === `copse-pool-${folder}` ||
    (name.startsWith(`${folder}-`) && /^\d+$/.test(name.slice(folder.length + 1)))
  );
}

/** Follows links above the worktree. The worktree itself must not be a link, or it could be another worktree. */
function placeOf(worktree: string): string {
  return path.join(canonical(path.dirname(worktree)), path.basename(worktree));
}

export type RegistrationOf =
  | { readonly kind: 'registered'; readonly registration: Registration }
  | { readonly kind: 'broken'; readonly why: string };

/** The registration that a worktree's `.git` file names, if it belongs to this repository and names the worktree. */
export function registrationOf(commonDir: string, worktree: string): RegistrationOf {
  const folder = lstatSync(worktree, { throwIfNoEntry: false });
  if (folder?.isDirectory() === false) return { kind: 'broken', why: 'it is not a folder' };
  const entry = path.join(worktree, '.git');
  const kind = lstatSync(entry, { throwIfNoEntry: false });
  if (kind === undefined) return { kind: 'broken', why: 'it has no .git file' };
  if (!kind.isFile()) return { kind: 'broken', why: 'its .git is not the file that a worktree has' };
  const [, named] = /^gitdir: (.+?)[\r\n]*$/s.exec(readIfPlain(entry) ?? '') ?? [];
  if (named === undefined) return { kind: 'broken', why: 'its .git file does not name a git directory' };
  const gitDir = path.resolve(worktree, named);
  if (canonical(path.dirname(gitDir)) !== canonical(path.join(commonDir, 'worktrees'))) {
    return { kind: 'broken', why: `its .git file names ${gitDir}, which does not belong to this repository` };
  }
  const found = registrationNamed(commonDir, path.basename(gitDir));
  if (found === undefined) return { kind: 'broken', why: 'git no longer has it registered' };
  if (placeOf(found.path) !== placeOf(worktree)) {
    return { kind: 'broken', why: `git has registered ${found.name} as the worktree at ${found.path}` };
  }
  return { kind: 'registered', registration: found };
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
  // The caller holds the repository's lock, so these are left by killed processes.
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
 * After the repository was moved, worktree and registration name paths that no longer exist. Copse corrects them if the
 * registered path is gone and the registration has the folder's name, so that it cannot take another worktree for this one.
 */
export async function repairMoved(commonDir: string, worktree: string): Promise<boolean> {
  const entry = path.join(worktree, '.git');
  if (!lstatSync(worktree, { throwIfNoEntry: false })?.isDirectory()) return false;
  if (!lstatSync(entry, { throwIfNoEntry: false })?.isFile()) return false;
  const [, named] = /^gitdir: (.+?)[\r\n]*$/s.exec(readIfPlain(entry) ?? '') ?? [];
  if (named === undefined || registrationOf(commonDir, worktree).kind === 'registered') return false;
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
    // It does not exist; its parent may still be a link.
    const parent = path.dirname(folder);
    return parent === folder ? folder : path.join(canonical(parent), path.basename(folder));
  }
}
