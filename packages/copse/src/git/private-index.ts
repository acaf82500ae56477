/**
 * A copy of a checkout's index, so that Copse writes nothing into the index that a person or an agent uses.
 *
 * Git recognises an edit within the same second by the mtime of the index, so the copy gets that mtime, in whole seconds: an
 * older index makes git compare more files. The copy reveals what an index can hide: edits behind assume-unchanged bits, and
 * files that exist although a sparse checkout excludes them. An index that cannot be used alone, a split one for example, is
 * replaced by one made from the commit.
 */

import { lstatSync, utimesSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';

import { defaultPolicy } from '../kernel/policy.ts';
import { copyPlainFile, readPlainBytes } from '../kernel/system/plain-file.ts';
import { BeyondLimits } from '../kernel/unavailable.ts';
import { entries, nul, onDisk, utf8 } from './output.ts';
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
  if (lstatSync(path.join(gitDir, 'index'), { throwIfNoEntry: false })?.isFile()) {
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
    git(dir, ['ls-files', '-z', '--others', ...NOT_COPSES], options),
  ]);
  const found = new Set([...entries(differing), ...entries(others).filter((name) => !name.endsWith('/'))]);
  const { files, special } = requireAddable(worktree, [...found]);
  const remove = ['update-index', '-z', '--force-remove', '--stdin'];
  if (special.length > 0) await git(dir, remove, { ...options, input: nul(special) });
  if (files.length === 0) return;
  const argv = ['update-index', '-z', '--add', '--remove', '--replace', '--stdin'];
  await git(dir, argv, { ...options, input: nul(files) });
}

/** For `ls-files --others`: Copse's own files are not the agent's, even if the line that ignores them was removed. */
export const NOT_COPSES = [
  '--exclude-standard',
  '--exclude=/.copse/',
  '--exclude=/AGENT_CONTEXT.md',
] as const;

export interface Addable {
  readonly files: readonly string[];
  /** Pipes, sockets and devices: git can store none of them. */
  readonly special: readonly string[];
}

/** Throws when the files are more, or larger, than Copse saves. A sparse file can be larger than the disk. */
export function requireAddable(worktree: string, names: readonly string[]): Addable {
  const { mostFiles, mostBytes } = defaultPolicy.rescue;
  if (names.length > mostFiles) throw tooMuch(`${worktree} has more than ${mostFiles} changed files`);
  const special = new Set<string>();
  let bytes = 0;
  for (const name of names) {
    const found = lstatSync(onDisk(worktree, name), { throwIfNoEntry: false });
    if (found === undefined || found.isDirectory() || found.isSymbolicLink()) continue;
    if (!found.isFile()) special.add(name);
    else bytes += found.size;
    if (bytes > mostBytes)
      throw tooMuch(
        `The changed files of ${worktree}, with ${utf8(name)}, have more than ${mostBytes} bytes`,
      );
  }
  return { files: names.filter((name) => !special.has(name)), special: [...special] };
}

function tooMuch(what: string): BeyondLimits {
  return new BeyondLimits(
    `${what}, which is more than Copse saves.`,
    'Delete what is not needed, or let git ignore it (.gitignore).',
  );
}

export function copyWithTime(from: string, to: string): void {
  // Before it is read: an index that is written meanwhile looks older than it is, and git compares more.
  const { mtimeMs } = lstatSync(from);
  // An index of a large repository has megabytes, and each task copies several.
  const { indexBytes: mostBytes } = defaultPolicy.files;
  if (!copyPlainFile(from, to, { mostBytes, mode: 0o600 })) throw new Error(`The index ${from} is gone.`);
  const seconds = Math.floor(mtimeMs / 1000);
  utimesSync(to, seconds, seconds);
}

export function readIndex(file: string): Buffer | undefined {
  return readPlainBytes(file, { mostBytes: defaultPolicy.files.indexBytes });
}
