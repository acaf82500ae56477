/**
 * Repositories inside a removed worktree: submodules, and repositories that were cloned or created there. Their commits and files are
 * in no rescue, because they belong to other repositories, so the trash may be the only place that has them.
 *
 * Git is not started: agents can configure these repositories. A submodule counts as untouched if its git directory has no
 * trace of work, and no file of it changed after Copse had made it, which is when its `.git` was written. Any other
 * repository counts as worked in.
 */

import { existsSync, lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';

import type { TrashEntry } from '../ports/trash.ts';
import { readIfPlain } from '../../kernel/system/plain-file.ts';

/** Paths of repositories that may hold work, in the worktree or in its git directory. */
export function repositoriesIn({ files, gitDir }: Pick<TrashEntry, 'files' | 'gitDir'>): readonly string[] {
  const nested = foldersIn(files).flatMap((name) => repositoriesBelow(files, name));
  const modules = foldersIn(path.join(gitDir, 'modules')).flatMap((name) =>
    touchedGitDirs(gitDir, path.join('modules', name)),
  );
  return [...nested, ...modules].toSorted();
}

function repositoriesBelow(top: string, at: string): readonly string[] {
  const folder = path.join(top, at);
  const git = lstatSync(path.join(folder, '.git'), { throwIfNoEntry: false });
  if (git !== undefined && (!git.isFile() || hasNewerThan(folder, git.ctimeMs))) return [at];
  return foldersIn(folder).flatMap((name) => repositoriesBelow(top, path.join(at, name)));
}

/** By change times, which cannot be set. Deleting and renaming change the folder. */
function hasNewerThan(folder: string, ms: number): boolean {
  return (
    lstatSync(folder).ctimeMs > ms ||
    readdirSync(folder, { withFileTypes: true }).some((entry) => {
      const at = path.join(folder, entry.name);
      return entry.isDirectory() ? hasNewerThan(at, ms) : lstatSync(at).ctimeMs > ms;
    })
  );
}

/** A commit, a branch, a stash, a merge: each leaves one of these in the git directory of a submodule. */
const TRACES = [
  'packed-refs',
  'refs/stash',
  'COMMIT_EDITMSG',
  'ORIG_HEAD',
  'MERGE_HEAD',
  'CHERRY_PICK_HEAD',
  'rebase-merge',
  'rebase-apply',
] as const;

function touchedGitDirs(top: string, at: string): readonly string[] {
  const gitDir = path.join(top, at);
  if (!existsSync(path.join(gitDir, 'HEAD')))
    return foldersIn(gitDir).flatMap((name) => touchedGitDirs(top, path.join(at, name)));
  const isTouched =
    hasHistory(path.join(gitDir, 'logs')) ||
    TRACES.some((name) => existsSync(path.join(gitDir, name))) ||
    readdirSync(path.join(gitDir, 'refs', 'heads')).length > 0;
  const inner = foldersIn(path.join(gitDir, 'modules')).flatMap((name) =>
    touchedGitDirs(top, path.join(at, 'modules', name)),
  );
  return isTouched ? [at, ...inner] : inner;
}

/** More than the one line that says where HEAD began. */
function hasHistory(logs: string): boolean {
  if (!existsSync(logs)) return false;
  const names = readdirSync(logs);
  const head = path.join(logs, 'HEAD');
  return names.some((name) => name !== 'HEAD') || readIfPlain(head)?.trimEnd().includes('\n') !== false;
}

function foldersIn(folder: string): readonly string[] {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}
