/**
 * A copy of a checkout's index, so that Copse writes nothing into the index that a person or an agent uses.
 *
 * Git recognises an edit within the same second by the mtime of the index, so the copy gets that mtime, in whole seconds: an
 * older index makes git compare more files. The copy reveals what an index can hide: edits behind assume-unchanged bits, and
 * files that exist although a sparse checkout excludes them. An index that cannot be used alone, a split one for example, is
 * replaced by one made from the commit.
 */

import { closeSync, existsSync, fstatSync, openSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';

import { entries, nul } from './output.ts';
import { GitFailed, type GitOptions, git, tryGit, type TrustedDir } from './process.ts';
import type { Place } from './worktrees/place.ts';

/** Files that exist although a sparse checkout excludes them count like all others. */
const CAREFUL = ['-c', 'core.sparseCheckout=true'] as const;

/** Makes the copy at `index`. False when it had to be made from the commit and lacks staged changes. */
export async function copyIndex(
  dir: TrustedDir,
  { gitDir, worktree }: Pick<Place, 'gitDir' | 'worktree'>,
  index: string,
  commit: string | undefined,
): Promise<boolean> {
  const options: GitOptions = { index, workTree: worktree };
  const refresh = [...CAREFUL, 'update-index', '-q', '--really-refresh'];
  if (existsSync(path.join(gitDir, 'index'))) {
    copyWithTime(path.join(gitDir, 'index'), index);
    // Exit code 1: some files differ.
    if ((await tryGit(dir, refresh, options)).code <= 1) return true;
    await rm(index, { force: true });
  }
  await git(dir, ['read-tree', ...(commit === undefined ? ['--empty'] : [commit])], options);
  const { code, stderr } = await tryGit(dir, refresh, options);
  if (code > 1) throw new GitFailed(refresh, code, stderr);
  return false;
}

/** Updates such a copy from the files, as `git add --all` does, without entering submodules. */
export async function addEverything(dir: TrustedDir, worktree: string, index: string): Promise<void> {
  const options: GitOptions = { index, workTree: worktree };
  const [differing, others] = await Promise.all([
    git(dir, ['diff-files', '-z', '--name-only', '--ignore-submodules=dirty'], options),
    git(dir, ['ls-files', '-z', '--others', '--exclude-standard'], options),
  ]);
  const files = new Set([...entries(differing), ...entries(others).filter((name) => !name.endsWith('/'))]);
  if (files.size === 0) return;
  const argv = ['update-index', '-z', '--add', '--remove', '--replace', '--stdin'];
  await git(dir, argv, { ...options, input: nul([...files]) });
}

export function copyWithTime(from: string, to: string): void {
  const descriptor = openSync(from, 'r');
  try {
    const seconds = Math.floor(fstatSync(descriptor).mtimeMs / 1000);
    writeFileSync(to, readFileSync(descriptor), { mode: 0o600 });
    utimesSync(to, seconds, seconds);
  } finally {
    closeSync(descriptor);
  }
}
