/** Looking at worktrees and making them. */

import { existsSync, lstatSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';

import type { BranchName, CommitId } from '../../kernel/ids.ts';
import type { WorktreeFacts } from '../../workspaces/rules/preparation.ts';
import type { NewWorktree, Place, Registered, Uncommitted } from '../port.ts';
import { readIfThere } from '../../kernel/system/read-if-there.ts';
import { copyIndex } from '../private-index.ts';
import { git, gitLine, type TrustedDir } from '../process.ts';
import { findTip } from '../refs/refs.ts';
import {
  UNFINISHED,
  canonical,
  register,
  registrationAt,
  registrationOf,
  registrations,
} from './registrations.ts';
import { headOf, requirePlace, withScratch } from './place.ts';

export async function lookAtWorktree(
  dir: TrustedDir,
  worktree: string,
  tipOf: TipOf = (ref) => findTip(dir, ref),
): Promise<WorktreeFacts> {
  const kind = lstatSync(worktree, { throwIfNoEntry: false });
  if (kind === undefined) {
    return { state: 'absent', isRegistered: registrationAt(dir.commonDir, worktree) !== undefined };
  }
  if (!kind.isDirectory()) return { state: 'broken', why: 'it is not a folder', isUnfinished: false };
  const registration = registrationOf(dir.commonDir, worktree);
  if ('why' in registration) return { state: 'broken', why: registration.why, isUnfinished: false };
  const { gitDir } = registration.found;
  if (existsSync(path.join(gitDir, UNFINISHED))) {
    return { state: 'broken', why: 'its checkout was never finished', isUnfinished: true };
  }
  if (!existsSync(path.join(gitDir, 'index')))
    return { state: 'broken', why: 'its index is gone', isUnfinished: false };
  const { branch, commit } = headOf(gitDir);
  const head = commit ?? (branch && (await tipOf(`refs/heads/${branch}`)));
  if (!head)
    return { state: 'broken', why: `its branch ${branch ?? ''} does not exist`, isUnfinished: false };
  return { state: 'healthy', branch, head, operation: operationIn(gitDir) };
}

type TipOf = (ref: string) => Promise<CommitId | undefined>;

const OPERATIONS = [
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['BISECT_LOG', 'bisect'],
] as const;

function operationIn(gitDir: string): string | null {
  return OPERATIONS.find(([file]) => existsSync(path.join(gitDir, file)))?.[1] ?? null;
}

/** The checkout whose HEAD is this branch, or that is in the middle of rebasing it. */
export function holderOf(dir: TrustedDir, branch: BranchName): string | undefined {
  const { commonDir } = dir;
  const mainPath = path.basename(commonDir) === '.git' ? path.dirname(commonDir) : commonDir;
  // A bare repository has a HEAD as well, but no index.
  const isBare = !existsSync(path.join(dir.commonDir, 'index'));
  const main = isBare ? [] : [{ gitDir: dir.commonDir, path: mainPath }];
  return [...main, ...registrations(dir.commonDir)].find(({ gitDir }) => holds(gitDir, branch))?.path;
}

function holds(gitDir: string, branch: BranchName): boolean {
  if (headOf(gitDir).branch === branch) return true;
  return ['rebase-merge', 'rebase-apply'].some(
    (folder) => readIfThere(path.join(gitDir, folder, 'head-name'))?.trimEnd() === `refs/heads/${branch}`,
  );
}

/** The part that only one may do at a time. */
export async function registerWorktree(
  dir: TrustedDir,
  { path: worktree, name, branch }: NewWorktree,
): Promise<Registered> {
  const holder = holderOf(dir, branch);
  if (holder !== undefined && canonical(holder) !== canonical(worktree))
    return { registered: false, takenBy: holder };
  const tip = await findTip(dir, `refs/heads/${branch}`);
  if (tip === undefined) throw new Error(`There is no branch ${branch} to make a worktree for`);
  return {
    registered: true,
    place: await registerAt(dir, { worktree, name, tip, head: `ref: refs/heads/${branch}` }),
  };
}

/** The same with HEAD on no branch. */
export function registerDetached(
  dir: TrustedDir,
  { path: worktree, name }: Omit<NewWorktree, 'branch'>,
  tip: CommitId,
): Promise<Place> {
  return registerAt(dir, { worktree, name, tip, head: tip });
}

async function registerAt(
  { commonDir }: TrustedDir,
  of: { readonly worktree: string; readonly name: string; readonly tip: CommitId; readonly head: string },
): Promise<Place> {
  const { worktree, name, tip, head } = of;
  await mkdir(worktree, { recursive: true });
  for (let number = 1; ; number += 1) {
    const registration = register(commonDir, {
      name: number === 1 ? name : `${name}-${number}`,
      path: canonical(worktree),
      head,
      reason: `Copse: task ${name}. Remove it with: copse cleanup ${name}`,
    });
    if (registration) return { path: registration.path, gitDir: registration.gitDir, tip };
  }
}

/** The part that takes long, and that any number may do at once. */
export async function checkOut(
  dir: TrustedDir,
  { gitDir, path: workTree, tip }: Place,
  sparse: readonly string[],
): Promise<void> {
  const index = path.join(gitDir, 'index');
  if (sparse.length === 0) {
    await git(dir, ['read-tree', '-u', '--reset', tip], { workTree, index });
  } else {
    await git(dir, ['read-tree', '--reset', tip], { workTree, index });
    const all = (await git(dir, ['ls-files', '-z'], { workTree, index })).toString().split('\0');
    const outside = all.filter((file) => file !== '' && !isInSparse(file, sparse));
    const input = outside.map((file) => `${file}\0`).join('');
    await git(dir, ['update-index', '--skip-worktree', '-z', '--stdin'], { workTree, index, input });
    await git(dir, ['checkout-index', '--all', '--index'], { workTree, index });
  }
  await rm(path.join(gitDir, UNFINISHED), { force: true });
}

/** Folders, as in git's cone mode: the files of every folder on the way are there too. */
export function isInSparse(file: string, folders: readonly string[]): boolean {
  const parent = path.posix.dirname(file);
  return folders.some((folder) => {
    const wanted = folder.replace(/^\/|\/$/g, '');
    return parent === '.' || `${file}/`.startsWith(`${wanted}/`) || `${wanted}/`.startsWith(`${parent}/`);
  });
}

/** With a copy of the index: looking must not write into what an agent is using. */
export async function uncommittedIn(dir: TrustedDir, workTree: string): Promise<Uncommitted> {
  const place = requirePlace(dir, workTree);
  const { branch, commit } = headOf(place.gitDir);
  const head = commit ?? (await gitLine(dir, ['rev-parse', '--verify', `refs/heads/${branch}^{commit}`]));
  return withScratch(dir, async (scratch) => {
    const index = path.join(scratch, 'index');
    const isWhole = await copyIndex(dir, place, index, head);
    const [changed, untracked] = await Promise.all([
      git(dir, ['diff-index', '--name-only', '-z', '--ignore-submodules=dirty', head], { workTree, index }),
      git(dir, ['ls-files', '--others', '--exclude-standard', '-z'], { workTree, index }),
    ]);
    return { changed: names(changed), untracked: names(untracked), ...(!isWhole && { isIndexLost: true }) };
  });
}

function names(output: Buffer): readonly string[] {
  return output
    .toString()
    .split('\0')
    .filter((name) => name !== '');
}
