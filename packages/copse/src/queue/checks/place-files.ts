/** The files of a worktree of the queue: those of the candidate and what git ignores, nothing else. */

import { lstatSync, mkdirSync, readdirSync, rmSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { CheckCandidate } from '../ports/checks.ts';
import { inside } from '../../workspaces/git/pool/entries.ts';
import { copyWithTime, entries } from '../../git/private-index.ts';
import { type GitOptions, git, gitLine, tryGit } from '../../git/process.ts';
import { withScratch } from '../../git/worktrees/place.ts';
import type { TrustedDir } from '../../git/directory/trusted-dir.ts';
import { isInSparse } from '../../git/worktrees/worktrees.ts';

export interface CandidatePlace {
  readonly workTree: string;
  /** Of the files as Copse wrote them the last time, and as it writes them now. */
  readonly index: string;
  /** Where the index for the worktree itself is made. */
  readonly fresh: string;
}

/** Throws when the worktree does not take it; then another is needed. */
export async function checkOutCandidate(
  dir: TrustedDir,
  place: CandidatePlace,
  { commit, sparse }: CheckCandidate,
): Promise<void> {
  const { workTree, index, fresh } = place;
  const tracked = await withTree(dir, { commit, sparse }, async (tree, env) => {
    const write = () => git(dir, ['read-tree', '-u', '--reset', tree], { workTree, index, env });
    await write();
    const found = readTracked(await git(dir, ['ls-files', '--stage', '-z'], { workTree, index }));
    settleFolders(workTree, found);
    if (removeLocked(workTree, found)) await write();
    return found;
  });
  await removeUntracked(dir, place);
  emptySubmodules(workTree, tracked);
  const { code } = await tryGit(dir, ['diff-files', '--quiet', '--ignore-submodules=all'], {
    workTree,
    index,
  });
  if (code !== 0) throw new Error('its files are not those of the candidate');
  copyWithTime(index, fresh);
  if (sparse.length > 0) await addLeftOut(dir, { workTree, index: fresh }, { commit, sparse });
}

/**
 * The tree to write. A sparse one is a tree without what is left out, so that git writes and deletes just what it has to;
 * it is needed for a moment only, and the repository does not get to see it.
 */
async function withTree<T>(
  dir: TrustedDir,
  { commit, sparse }: CheckCandidate,
  work: (tree: string, env: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  if (sparse.length === 0) return work(commit, {});
  return withScratch(dir, async (scratch) => {
    const objects = path.join(scratch, 'objects');
    mkdirSync(path.join(objects, 'info'), { recursive: true });
    writeFileSync(path.join(objects, 'info', 'alternates'), `${path.join(dir.commonDir, 'objects')}\n`);
    const env = { GIT_OBJECT_DIRECTORY: objects };
    const options: GitOptions = { index: path.join(scratch, 'index'), workTree: scratch, env };
    await git(dir, ['read-tree', commit], options);
    const input = await leftOut(dir, options, sparse);
    await git(dir, ['update-index', '--force-remove', '-z', '--stdin'], { ...options, input });
    return work(await gitLine(dir, ['write-tree'], options), env);
  });
}

/** What a sparse checkout leaves out is in the index all the same, marked. */
async function addLeftOut(
  dir: TrustedDir,
  options: GitOptions,
  { commit, sparse }: CheckCandidate,
): Promise<void> {
  await git(dir, ['read-tree', '--reset', commit], options);
  const input = await leftOut(dir, options, sparse);
  await git(dir, ['update-index', '--skip-worktree', '-z', '--stdin'], { ...options, input });
}

async function leftOut(dir: TrustedDir, options: GitOptions, sparse: readonly string[]): Promise<Buffer> {
  const all = entries(await git(dir, ['ls-files', '-z'], options));
  const isOut = (name: string) => !isInSparse(Buffer.from(name, 'latin1').toString(), sparse);
  return Buffer.from(
    all
      .filter(isOut)
      .map((name) => `${name}\0`)
      .join(''),
    'latin1',
  );
}

/** Names are bytes, one character each. */
interface Tracked {
  readonly files: ReadonlySet<string>;
  readonly submodules: readonly string[];
  /** Every folder that holds one of them, each after the one around it; the worktree itself is ''. */
  readonly folders: readonly string[];
}

function readTracked(output: Buffer): Tracked {
  const files = new Set<string>();
  const submodules: string[] = [];
  const folders = new Set(['']);
  for (const entry of entries(output)) {
    const name = entry.slice(entry.indexOf('\t') + 1);
    if (entry.startsWith('160000')) submodules.push(name);
    else files.add(name);
    for (let slash = name.lastIndexOf('/'); slash > 0; slash = name.lastIndexOf('/', slash - 1))
      folders.add(name.slice(0, slash));
  }
  return { files, submodules, folders: [...folders].toSorted() };
}

/**
 * A folder may have become a link to one elsewhere, where git finds the very files; or nobody may write in it any more.
 * Git passes over repositories inside, and an ignore file that nobody committed would hide others and itself.
 */
function settleFolders(workTree: string, { folders, files }: Tracked): void {
  for (const folder of folders) {
    const found = lstatSync(inside(workTree, folder), { throwIfNoEntry: false });
    const shown = JSON.stringify(folder === '' ? '.' : folder);
    if (!found?.isDirectory()) throw new Error(`its ${shown} is not a folder`);
    if ((found.mode & OWNER) !== OWNER) throw new Error(`its folder ${shown} is locked`);
    const at = (name: string) => (folder === '' ? name : `${folder}/${name}`);
    const strays = folder === '' ? ['.gitignore'] : ['.gitignore', '.git'];
    for (const name of strays.map(at))
      if (!files.has(name)) rmSync(inside(workTree, name), { recursive: true, force: true });
  }
}

const OWNER = 0o700;
const OWNERS_FILE = 0o600;

/** Git does not see that nobody may read or write a file any more. True when there was one. */
function removeLocked(workTree: string, { files }: Tracked): boolean {
  const isLocked = (name: string) => {
    const found = lstatSync(inside(workTree, name), { throwIfNoEntry: false });
    return found?.isFile() === true && (found.mode & OWNERS_FILE) !== OWNERS_FILE;
  };
  const locked = [...files].filter(isLocked);
  for (const name of locked) rmSync(inside(workTree, name));
  return locked.length > 0;
}

async function removeUntracked(dir: TrustedDir, { workTree, index }: CandidatePlace): Promise<void> {
  const list = ['ls-files', '--others', '--exclude-standard', '-z'];
  const untracked = entries(await git(dir, list, { workTree, index }));
  // A repository inside is listed as a folder.
  for (const name of untracked)
    rmSync(inside(workTree, name.replace(/\/$/, '')), { recursive: true, force: true });
  const left = entries(await git(dir, [...list, '--directory'], { workTree, index }));
  for (const name of left.filter((one) => one.endsWith('/')))
    removeEmpty(inside(workTree, name.slice(0, -1)));
}

/** Folders without a file; those that hold something git ignores stay. */
function removeEmpty(folder: Buffer): void {
  for (const entry of readdirSync(folder, { withFileTypes: true, encoding: 'buffer' })) {
    if (entry.isDirectory()) removeEmpty(Buffer.concat([folder, Buffer.from('/'), entry.name]));
  }
  if (readdirSync(folder).length === 0) rmdirSync(folder);
}

function emptySubmodules(workTree: string, { submodules }: Tracked): void {
  for (const name of submodules) {
    rmSync(inside(workTree, name), { recursive: true, force: true });
    mkdirSync(inside(workTree, name));
  }
}
