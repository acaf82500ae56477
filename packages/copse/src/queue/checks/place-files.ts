/** Makes the files of a queue worktree those of the candidate, and keeps the files that git ignores. */

import { lstatSync, mkdirSync, readdirSync, rmSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { CheckCandidate } from '../ports/checks.ts';
import { inside } from '../../workspaces/git/pool/entries.ts';
import { copyWithTime } from '../../git/private-index.ts';
import { entries } from '../../git/output.ts';
import { type GitOptions, git, gitLine, tryGit, type TrustedDir } from '../../git/process.ts';
import { withScratch } from '../../git/worktrees/place.ts';
import { isInSparse } from '../../git/worktrees/worktrees.ts';

export interface CandidatePlace {
  readonly workTree: string;
  /** Copse's own index of the files that it wrote. */
  readonly index: string;
  /** The path at which the worktree's new index is made. */
  readonly fresh: string;
}

/** Throws when the worktree cannot become the candidate; the caller then makes a new worktree. */
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
 * Calls `work` with the tree to write. For a sparse checkout that is a smaller tree, so that git writes and deletes only the
 * files it has to; it lives in a throwaway object store.
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

/** Files outside a sparse checkout are in the index too, marked skip-worktree. */
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
  /** Every folder that holds one of them, parents first; the worktree itself is ''. */
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
 * A check can replace a folder by a link to a copy, or take away the right to write in it. Git skips repositories inside the
 * worktree, and an uncommitted ignore file hides other files and itself.
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

/** Removes files that the owner may not read or write: git does not notice those. True when there was one. */
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
  // Git lists a repository inside the worktree as a folder.
  for (const name of untracked)
    rmSync(inside(workTree, name.replace(/\/$/, '')), { recursive: true, force: true });
  const left = entries(await git(dir, [...list, '--directory'], { workTree, index }));
  for (const name of left.filter((one) => one.endsWith('/')))
    removeEmpty(inside(workTree, name.slice(0, -1)));
}

/** Removes folders without files; a folder with ignored files stays. */
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
