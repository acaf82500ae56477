/** The git commands for making a worktree ready; see workspaces/ports/furnishing.ts. */

import { mkdir } from 'node:fs/promises';
import path from 'node:path';

import type { CommitId } from '../../kernel/ids.ts';
import type { Checkout, FurnishingGit } from '../ports/furnishing.ts';
import { excludeFromGit } from '../../git/directory/exclude.ts';
import { largeFiles } from './lfs.ts';
import { initialiseSubmodules } from './submodules.ts';
import { entries, nul, utf8 } from '../../git/output.ts';
import { git, tryGit, type TrustedDir } from '../../git/process.ts';
import { withScratch, withScratchIn } from '../../git/worktrees/place.ts';
import { isInSparse } from '../../git/worktrees/worktrees.ts';

export function furnishingGit(dir: TrustedDir): FurnishingGit {
  return {
    ignoredMatching: (checkout, patterns) => ignoredMatching(dir, checkout, patterns),
    wouldIgnore: (checkout, paths) => wouldIgnore(dir, checkout, paths),
    tracked: (checkout, paths) => tracked(dir, checkout, paths),
    exclude: (patterns) => patterns.forEach((pattern) => excludeFromGit(dir.commonDir, pattern)),
    withScratch: (work, parent) =>
      parent === undefined ? withScratch(dir, work) : withScratchIn(parent, work),
    writeOut: (commit, target, sparse) => writeOut(dir, commit, target, sparse),
    submodules: (target, commit) => initialiseSubmodules(dir, target, commit),
    largeFiles: (target, options) => largeFiles(dir, target, options),
  };
}

/**
 * Combines two lists of git: paths that match the patterns, and ignored paths. Where one names a folder and the other a path
 * in it, the inner path counts.
 */
async function ignoredMatching(
  dir: TrustedDir,
  checkout: Checkout,
  patterns: readonly string[],
): Promise<readonly string[]> {
  if (patterns.length === 0) return [];
  const [ignored, matching] = await Promise.all([
    untracked(dir, checkout, ['--exclude-standard']),
    untracked(
      dir,
      checkout,
      patterns.map((pattern) => `--exclude=${pattern}`),
    ),
  ]);
  const found = innermost(ignored, matching);
  const folders = found.filter((entry) => entry.endsWith('/'));
  // Git also lists empty folders, whatever they are called.
  const whole = await wouldIgnore(dir, checkout, folders);
  return found.filter((entry) => !entry.endsWith('/') || whole.has(entry));
}

async function untracked(
  dir: TrustedDir,
  checkout: Checkout,
  excludes: readonly string[],
): Promise<readonly string[]> {
  const output = await git(
    dir,
    ['ls-files', '-z', '--others', '--ignored', '--directory', ...excludes],
    within(checkout),
  );
  const listed = fields(output);
  // Git also lists a folder in which every file is ignored, besides the files.
  const outer = new Set(listed.flatMap(holders));
  return listed.filter((entry) => !outer.has(entry));
}

function innermost(one: readonly string[], other: readonly string[]): readonly string[] {
  return [...new Set([...insideOf(one, other), ...insideOf(other, one)])].toSorted();
}

/** Those of the first list that are in the second, or in a folder of it. */
function insideOf(inner: readonly string[], outer: readonly string[]): readonly string[] {
  const all = new Set(outer);
  return inner.filter((entry) => all.has(entry) || holders(entry).some((folder) => all.has(folder)));
}

/** `a/b/c` is in `a/b/` and in `a/`. */
function holders(entry: string): readonly string[] {
  const parts = entry.replace(/\/$/, '').split('/').slice(0, -1);
  return parts.map((_, index) => `${parts.slice(0, index + 1).join('/')}/`);
}

async function wouldIgnore(
  dir: TrustedDir,
  checkout: Checkout,
  paths: readonly string[],
): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set();
  const { code, stdout } = await tryGit(dir, ['check-ignore', '-z', '--stdin'], {
    ...within(checkout),
    // The dot keeps a name that begins with a colon from being taken for a pattern.
    input: paths.map((entry) => `./${entry}\0`).join(''),
    env: { GIT_LITERAL_PATHSPECS: '0' },
  });
  // 1 means that none is ignored.
  if (code <= 1) return new Set(fields(stdout).map((entry) => entry.slice(2)));
  // Git gives up on all when one is behind a link or in a submodule. That one is not ignored, the others may be.
  const answers: string[] = [];
  if (paths.length > 1)
    for (const entry of paths) answers.push(...(await wouldIgnore(dir, checkout, [entry])));
  return new Set(answers);
}

async function tracked(
  dir: TrustedDir,
  checkout: Checkout,
  paths: readonly string[],
): Promise<readonly string[]> {
  return fields(await git(dir, ['ls-files', '-z', '--', ...paths], within(checkout)));
}

async function writeOut(
  dir: TrustedDir,
  commit: CommitId,
  target: Checkout,
  sparse: readonly string[],
): Promise<void> {
  await mkdir(target.folder, { recursive: true, mode: 0o700 });
  await mkdir(target.gitDir, { recursive: true, mode: 0o700 });
  await git(dir, ['read-tree', commit], within(target));
  const all = entries(await git(dir, ['ls-files', '-z'], within(target)));
  const input = nul(sparse.length === 0 ? all : all.filter((name) => isInSparse(utf8(name), sparse)));
  await git(dir, ['checkout-index', '-z', '--stdin'], { ...within(target), input });
}

function within({ folder, gitDir }: Checkout): { readonly workTree: string; readonly index: string } {
  return { workTree: folder, index: path.join(gitDir, 'index') };
}

function fields(output: Buffer): readonly string[] {
  return output
    .toString()
    .split('\0')
    .filter((field) => field !== '');
}
