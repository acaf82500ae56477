/** Reads the state of worktrees, and makes them. */

import { existsSync, lstatSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';

import type { BranchName, CommitId } from '../../kernel/ids.ts';
import type { WorktreeFacts } from '../../workspaces/rules/preparation.ts';
import type { Git, Ignored, NewWorktree, RegisteredWorktree, Registered, Uncommitted } from '../port.ts';
import { readIfPlain } from '../../kernel/system/plain-file.ts';
import { NOT_COPSES, copyIndex } from '../private-index.ts';
import { entries, unreadableIn, utf8 } from '../output.ts';
import { GitFailed, git, tryGit, type TrustedDir } from '../process.ts';
import { requireBoundedTip } from '../refs/bounded-tip.ts';
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
import { quickLook } from './quick-look.ts';

export async function lookAtWorktree(
  dir: TrustedDir,
  worktree: string,
  tipOf: TipOfRef = (ref) => findTip(dir, ref),
): Promise<WorktreeFacts> {
  const kind = lstatSync(worktree, { throwIfNoEntry: false });
  if (kind === undefined) {
    return { state: 'absent', isRegistered: registrationAt(dir.commonDir, worktree) !== undefined };
  }
  if (!kind.isDirectory()) return { state: 'broken', why: 'it is not a folder', isUnfinished: false };
  const registration = registrationOf(dir.commonDir, worktree);
  if (registration.kind === 'broken') return { state: 'broken', why: registration.why, isUnfinished: false };
  const { gitDir } = registration.registration;
  if (existsSync(path.join(gitDir, UNFINISHED))) {
    return { state: 'broken', why: 'its checkout was never finished', isUnfinished: true };
  }
  if (!lstatSync(path.join(gitDir, 'index'), { throwIfNoEntry: false })?.isFile())
    return { state: 'broken', why: 'its index is gone', isUnfinished: false };
  const { branch, commit } = headOf(gitDir);
  if (branch === null && commit === null)
    return { state: 'broken', why: 'its HEAD cannot be read', isUnfinished: false };
  const head = commit ?? (branch && (await tipOf(`refs/heads/${branch}`)));
  if (!head) {
    const why =
      branch === null
        ? 'its HEAD names neither a branch nor a commit'
        : `its HEAD is on ${branch}, which does not exist`;
    return { state: 'broken', why, isUnfinished: false };
  }
  return { state: 'healthy', branch, head, operation: operationIn(gitDir) };
}

type TipOfRef = (ref: string) => Promise<CommitId | undefined>;

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

/** The checkout that has this branch, or is rebasing it. */
export function holderOf(
  dir: TrustedDir,
  branch: BranchName,
  ignoring: readonly string[] = [],
): string | undefined {
  const { commonDir } = dir;
  const mainPath = path.basename(commonDir) === '.git' ? path.dirname(commonDir) : commonDir;
  // A bare repository has a HEAD too, but no index.
  const isBare = !existsSync(path.join(dir.commonDir, 'index'));
  const main = isBare ? [] : [{ gitDir: dir.commonDir, path: mainPath }];
  return [...main, ...registrations(dir.commonDir)].find(
    ({ gitDir, path: at }) => holds(gitDir, branch) && !ignoring.includes(at),
  )?.path;
}

function holds(gitDir: string, branch: BranchName): boolean {
  if (headOf(gitDir).branch === branch) return true;
  return ['rebase-merge', 'rebase-apply'].some(
    (folder) => readIfPlain(path.join(gitDir, folder, 'head-name'))?.trimEnd() === `refs/heads/${branch}`,
  );
}

/** Only one process may do this at a time. */
export async function registerWorktree(
  dir: TrustedDir,
  { path: worktree, name, branch, ignoring }: NewWorktree,
): Promise<Registered> {
  const holder = holderOf(dir, branch, ignoring);
  if (holder !== undefined && canonical(holder) !== canonical(worktree))
    return { kind: 'taken', takenBy: holder };
  const tip = await findTip(dir, `refs/heads/${branch}`);
  if (tip === undefined) throw new Error(`The branch ${branch} of the new worktree does not exist`);
  return {
    kind: 'registered',
    place: await registerAt(dir, { worktree, name, tip, head: `ref: refs/heads/${branch}` }),
  };
}

/** The same, with a detached HEAD. */
export function registerDetached(
  dir: TrustedDir,
  { path: worktree, name }: Omit<NewWorktree, 'branch'>,
  tip: CommitId,
): Promise<RegisteredWorktree> {
  return registerAt(dir, { worktree, name, tip, head: tip });
}

async function registerAt(
  { commonDir }: TrustedDir,
  of: { readonly worktree: string; readonly name: string; readonly tip: CommitId; readonly head: string },
): Promise<RegisteredWorktree> {
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

/** Takes long; any number of processes may do this at once. */
export async function checkOut(
  dir: TrustedDir,
  { gitDir, path: workTree, tip }: RegisteredWorktree,
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

/** Folders, as in git's cone mode, which includes the files of every parent folder. */
export function isInSparse(file: string, folders: readonly string[]): boolean {
  const parent = path.posix.dirname(file);
  return folders.some((folder) => {
    const wanted = folder.replace(/^\/|\/$/g, '');
    return parent === '.' || `${file}/`.startsWith(`${wanted}/`) || `${wanted}/`.startsWith(`${parent}/`);
  });
}

/** With a copy of the index, so that nothing is written into the index that an agent uses. */
export async function uncommittedIn(dir: TrustedDir, workTree: string): Promise<Uncommitted> {
  const place = requirePlace(dir, workTree);
  const { branch, commit } = headOf(place.gitDir);
  const head = commit ?? (await findTip(dir, `refs/heads/${branch}`));
  if (head === undefined) throw new Error(`The branch ${branch} of ${workTree} does not exist`);
  await requireBoundedTip(dir, head, `The branch ${branch ?? ''} of ${workTree}`);
  return withScratch(dir, async (scratch) => {
    const quick = await quickLook(dir, place, path.join(scratch, 'quick'), head);
    if (quick !== undefined) return quick;
    const index = path.join(scratch, 'index');
    const isWhole = await copyIndex(dir, place, index, head);
    const [changed, untracked] = await Promise.all(
      [
        ['diff-index', '--name-only', '-z', '--ignore-submodules=dirty', head],
        ['ls-files', '--others', ...NOT_COPSES, '-z'],
      ].map(async (argv) => {
        const { code, stdout, stderr } = await tryGit(dir, argv, { workTree, index });
        if (code !== 0) throw new GitFailed(argv, code, stderr);
        return { files: names(stdout), unreadable: unreadableIn(stderr) };
      }),
    );
    const unreadable = [...(changed?.unreadable ?? []), ...(untracked?.unreadable ?? [])];
    return {
      changed: changed?.files ?? [],
      untracked: [...(untracked?.files ?? []), ...unreadable],
      unreadable,
      ...(!isWhole && { isIndexLost: true }),
    };
  });
}

export async function stillUncommittedIn(
  dir: TrustedDir,
  worktree: string,
  files: readonly string[],
): Promise<readonly string[]> {
  const { changed, untracked } = await uncommittedIn(dir, worktree);
  const uncommitted = [...changed, ...untracked];
  // A file can be where a landing needs a folder, and the other way round.
  const isAmong = (file: string) =>
    uncommitted.some((one) => one === file || one.startsWith(`${file}/`) || file.startsWith(`${one}/`));
  const isThere = (file: string) =>
    lstatSync(path.join(worktree, file), { throwIfNoEntry: false }) !== undefined;
  const others = files.filter((file) => !isAmong(file) && isThere(file));
  const tracked = others.length === 0 ? [] : await trackedOf(dir, worktree, others);
  return files.filter((file) => isAmong(file) || (others.includes(file) && !tracked.includes(file)));
}

async function trackedOf(
  dir: TrustedDir,
  worktree: string,
  files: readonly string[],
): Promise<readonly string[]> {
  const { commit, branch } = headOf(requirePlace(dir, worktree).gitDir);
  const head = commit ?? (await findTip(dir, `refs/heads/${branch}`));
  if (head === undefined) return [];
  return names(await git(dir, ['ls-tree', '--name-only', '--full-tree', '-z', head, '--', ...files]));
}

function names(output: Buffer): readonly string[] {
  return output
    .toString()
    .split('\0')
    .filter((name) => name !== '');
}

/** More would not help a reader; there may be thousands. */
const NAMED = 5;
/** Copse's own files, written for every attempt. */
const COPSES_OWN: ReadonlySet<string> = new Set(['.copse/', 'AGENT_CONTEXT.md']);

/** The ignored files of a worktree in the trash, which no other place has. */
export async function ignoredIn(
  dir: TrustedDir,
  { files, gitDir, isThin }: Parameters<Git['ignored']>[0],
): Promise<Ignored | undefined> {
  // The folder was deleted or replaced.
  if (!lstatSync(files, { throwIfNoEntry: false })?.isDirectory()) return { count: 0, first: [] };
  // The ignore files may be among the removed files.
  const rules = isThin ? [] : ['--ignored', '--exclude-standard'];
  const argv = ['ls-files', '-z', '--others', ...rules, '--directory', '--no-empty-directory'];
  // Without a readable index, the ignore rules alone decide.
  for (const index of [path.join(gitDir, 'index'), path.join(gitDir, 'no index')]) {
    const { code, stdout } = await tryGit(dir, argv, { workTree: files, index });
    if (code !== 0) continue;
    const found = entries(stdout).filter((name) => !COPSES_OWN.has(name));
    return { count: found.length, first: found.slice(0, NAMED).map(utf8) };
  }
  return undefined;
}
