/**
 * A worktree's folder, its own git directory, and git's files there about HEAD and about operations in progress.
 *
 * A worktree's `.git` is a file that an agent can write, so Copse trusts it only if git's registration of the worktree names it
 * too. Copse follows and executes nothing in the git directory: it reads regular files and skips everything else.
 */

import {
  lstatSync,
  mkdtempSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmdirSync,
  statSync,
  unlinkSync,
  utimesSync,
} from 'node:fs';
import path from 'node:path';

import { defaultPolicy } from '../../kernel/policy.ts';
import { readPlainBytes } from '../../kernel/system/plain-file.ts';
import { removeTree } from '../../kernel/system/remove-tree.ts';
import type { TrustedDir } from '../process.ts';

export interface Place {
  readonly worktree: string;
  readonly gitDir: string;
  /** The main checkout, whose git directory is never removed. */
  readonly isMain: boolean;
}

export function requirePlace({ commonDir }: TrustedDir, folder: string): Place {
  const worktree = realpathSync(folder);
  const common = realpathSync(commonDir);
  const entry = path.join(worktree, '.git');
  const found = statSync(entry, { throwIfNoEntry: false });
  if (found === undefined) throw notOurs(worktree, 'it has no .git');
  const gitDir = found.isDirectory() ? realpathSync(entry) : namedGitDir(worktree, entry);
  if (gitDir === common) return { worktree, gitDir, isMain: true };
  if (path.dirname(gitDir) !== path.join(common, 'worktrees'))
    throw notOurs(worktree, `its git directory ${gitDir} is not one of ${common}`);
  const registered = path.resolve(gitDir, oneLine(path.join(gitDir, 'gitdir')) ?? '');
  if (!isSame(path.dirname(registered), worktree))
    throw notOurs(worktree, `${gitDir} belongs to ${path.dirname(registered)}`);
  return { worktree, gitDir, isMain: false };
}

function namedGitDir(worktree: string, entry: string): string {
  const named = /^gitdir: (.+)$/s.exec(oneLine(entry) ?? '')?.[1];
  if (named === undefined) throw notOurs(worktree, 'its .git file names no git directory');
  const gitDir = path.resolve(worktree, named);
  if (!statSync(gitDir, { throwIfNoEntry: false })?.isDirectory())
    throw notOurs(worktree, `its git directory ${gitDir} does not exist`);
  return realpathSync(gitDir);
}

function isSame(folder: string, worktree: string): boolean {
  return statSync(folder, { throwIfNoEntry: false }) !== undefined && realpathSync(folder) === worktree;
}

function notOurs(worktree: string, why: string): Error {
  return new Error(
    `${worktree} is not a worktree of this repository: ${why}. If it was moved: git worktree repair`,
  );
}

export { headOf } from '../refs/head.ts';

/** On a branch, which may have no commit yet, or detached. */
export type Head = { readonly ref: string } | { readonly commit: string };

export function readHead({ gitDir, worktree }: Place): Head {
  const text = oneLine(path.join(gitDir, 'HEAD')) ?? '';
  const ref = /^ref: *(refs\/[^\n]+)$/.exec(text)?.[1];
  if (ref !== undefined) return { ref };
  if (/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(text)) return { commit: text };
  throw new Error(
    `HEAD of the worktree ${worktree} is damaged: ${path.join(gitDir, 'HEAD')} names neither a branch nor a commit.`,
  );
}

/** Files that git keeps while a merge, rebase or similar is in progress. */
const OPERATION_FILES = [
  'MERGE_HEAD',
  'MERGE_MSG',
  'MERGE_MODE',
  'MERGE_RR',
  'SQUASH_MSG',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'REBASE_HEAD',
  'BISECT_LOG',
  'BISECT_START',
  'BISECT_NAMES',
  'BISECT_TERMS',
  'BISECT_EXPECTED_REV',
  'BISECT_ANCESTORS_OK',
  'ORIG_HEAD',
] as const;
const OPERATION_FOLDERS = [
  'rebase-merge',
  'rebase-apply',
  'sequencer',
  'refs/bisect',
  'refs/worktree',
  'refs/rewritten',
] as const;
export const SIGNS_OF_OPERATION = [
  'MERGE_HEAD',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'BISECT_LOG',
  'rebase-merge',
  'rebase-apply',
  'sequencer',
] as const;
/** Kept for people to read; never restored. */
const NOTES = ['HEAD', 'FETCH_HEAD', 'COMMIT_EDITMSG', 'logs/HEAD'] as const;

export function isOperationFile(name: string): boolean {
  const parts = name.split('/');
  if (parts.some((part) => ['', '.', '..'].includes(part))) return false;
  return (
    OPERATION_FILES.some((file) => file === name) ||
    OPERATION_FOLDERS.some((folder) => name.startsWith(`${folder}/`))
  );
}

export function hasOperation(gitDir: string): boolean {
  return SIGNS_OF_OPERATION.some(
    (name) => lstatSync(path.join(gitDir, name), { throwIfNoEntry: false }) !== undefined,
  );
}

/** The small files of a worktree's git directory, by name. None for the main checkout, whose files stay in place. */
export function readNotes({ gitDir, isMain }: Place): ReadonlyMap<string, Buffer> {
  const notes = new Map<string, Buffer>();
  if (isMain) return notes;
  const names = [...NOTES, ...OPERATION_FILES, ...OPERATION_FOLDERS.flatMap((name) => filesIn(gitDir, name))];
  for (const name of names) {
    const content = readRegular(path.join(gitDir, name));
    if (content !== undefined) notes.set(name, content);
  }
  return notes;
}

function filesIn(gitDir: string, folder: string): readonly string[] {
  const at = path.join(gitDir, folder);
  if (!lstatSync(at, { throwIfNoEntry: false })?.isDirectory()) return [];
  return readdirSync(at, { withFileTypes: true }).flatMap((entry) => {
    const name = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return filesIn(gitDir, name);
    return entry.isFile() ? [name] : [];
  });
}

/** Undefined when the file is absent or is not a regular file; throws when it is too large. */
export function readRegular(file: string): Buffer | undefined {
  return lstatSync(file, { throwIfNoEntry: false })?.isFile() === true ? readPlainBytes(file) : undefined;
}

function oneLine(file: string): string | undefined {
  return readRegular(file)
    ?.toString()
    .replace(/[\r\n]+$/, '');
}

/**
 * A folder for private indexes and other temporary files, deleted after the work. Commands of a project run in some: what they
 * leave and Copse cannot delete stays for the sweep, which reports it.
 */
export function withScratch<T>({ home }: TrustedDir, work: (scratch: string) => Promise<T>): Promise<T> {
  return withScratchIn(path.join(home, '.copse', 'tmp'), work);
}

export async function withScratchIn<T>(parent: string, work: (scratch: string) => Promise<T>): Promise<T> {
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  const scratch = mkdtempSync(path.join(parent, `rescue-${process.pid}-`));
  // Processes of other containers see from its time that it is in use.
  const touching = setInterval(() => touch(scratch), TOUCH_MS).unref();
  try {
    return await work(scratch);
  } finally {
    clearInterval(touching);
    if (!removeFew(scratch)) await removeTree(scratch).catch(() => {});
  }
}

const FEW = 8;

/** A folder with a few files, at once: what removes a tree takes a command 2 ms to load. False when there is more in it. */
function removeFew(folder: string): boolean {
  try {
    const names = readdirSync(folder);
    if (names.length > FEW) return false;
    for (const name of names) unlinkSync(path.join(folder, name));
    rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

const TOUCH_MS = defaultPolicy.leftovers.scratchMs / 5;

function touch(folder: string): void {
  const now = new Date();
  try {
    utimesSync(folder, now, now);
  } catch {
    // The work deleted it.
  }
}
