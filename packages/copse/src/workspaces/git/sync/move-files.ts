/** Compares the files of a worktree with a move (note.ts): what it changes, and what would be overwritten. */

import { lstatSync } from 'node:fs';

import { filesBelow, nul, onDisk, utf8, type RawChange, parseRaw } from '../../../git/output.ts';
import { copyIndex, copyWithTime } from '../../../git/private-index.ts';
import { type GitOptions, git, type TrustedDir } from '../../../git/process.ts';
import type { Place } from '../../../git/worktrees/place.ts';
import type { Move } from './note.ts';

export async function changesOf(dir: TrustedDir, { from, tree }: Move): Promise<readonly RawChange[]> {
  return parseRaw(
    await git(dir, [
      'diff-tree',
      '-r',
      '-z',
      '--raw',
      '--no-renames',
      '--ignore-submodules=none',
      from,
      tree,
    ]),
  );
}

export interface PreparedIndex {
  readonly inTheWay: readonly string[];
  /** Files that have the new content before the move; one character per byte. */
  readonly already: readonly string[];
}

/**
 * Makes the private index from which the files are written, or names the paths that block it. A path that already has the
 * new content, in the index or on disk, does not block: a killed call wrote it, or the same change was made by hand.
 */
export async function prepareIndex(
  dir: TrustedDir,
  place: Place,
  { from, tree }: Move,
  changes: readonly RawChange[],
  index: string,
): Promise<PreparedIndex> {
  await copyOwnIndex(dir, place, index, from);
  const options: GitOptions = { index, workTree: place.worktree };
  const raw = ['--raw', '-z', '--no-renames', '--ignore-submodules=all'];
  const [staged, edited] = await Promise.all([
    git(dir, ['diff-index', '--cached', ...raw, from], options).then(parseRaw),
    git(dir, ['diff-files', ...raw], options).then(parseRaw),
  ]);
  const stagedAs = new Map(staged.map((change) => [change.file, change]));
  const isEdited = new Set(edited.map(({ file }) => file));
  const removed = new Set(changes.filter(({ status }) => status === 'D').map(({ file }) => file));
  const inTheWay = new Set<string>();
  const toCompare: RawChange[] = [];
  for (const change of changes) {
    const { file } = change;
    const already = stagedAs.get(file);
    if (already !== undefined && !isSameVersion(already, change)) inTheWay.add(file);
    if (change.mode === '160000' || change.oldMode === '160000') continue;
    const found = obstacle(place.worktree, file, removed);
    if (found === 'in_the_way') inTheWay.add(file);
    const isNewHere = change.status === 'A' && already === undefined && found === 'file';
    if (found !== 'in_the_way' && (isEdited.has(file) || isNewHere)) toCompare.push(change);
  }
  const same: RawChange[] = [];
  const differing = await differingFrom(dir, place, tree, toCompare, index);
  for (const change of toCompare) {
    if (differing.has(change.file)) inTheWay.add(change.file);
    else same.push(change);
  }
  if (inTheWay.size === 0 && same.length > 0) await putEntries(dir, place, index, same);
  return { inTheWay: [...inTheWay].map(utf8).toSorted(), already: same.map(({ file }) => file) };
}

function isSameVersion(one: RawChange, other: RawChange): boolean {
  return one.mode === other.mode && one.id === other.id;
}

/**
 * Files on disk that would be overwritten. Git itself overwrites ignored files, so it is not asked.
 */
export function obstacle(
  worktree: string,
  file: string,
  removed: ReadonlySet<string>,
): 'nothing' | 'file' | 'in_the_way' {
  const parts = file.split('/');
  for (let depth = 1; depth < parts.length; depth += 1) {
    const folder = parts.slice(0, depth).join('/');
    const found = lstatSync(onDisk(worktree, folder), { throwIfNoEntry: false });
    if (found === undefined) return 'nothing';
    if (!found.isDirectory()) return removed.has(folder) ? 'nothing' : 'in_the_way';
  }
  const found = lstatSync(onDisk(worktree, file), { throwIfNoEntry: false });
  if (found === undefined) return 'nothing';
  if (found.isFile() || found.isSymbolicLink()) return 'file';
  // A folder that becomes a file may hold only files that are removed with it.
  const isLeaving = found.isDirectory() && filesBelow(worktree, file).every((name) => removed.has(name));
  return isLeaving ? 'nothing' : 'in_the_way';
}

/** Those whose file on disk, if committed, would differ from the tree. */
export async function differingFrom(
  dir: TrustedDir,
  { worktree }: Place,
  tree: string,
  changes: readonly RawChange[],
  index: string,
): Promise<ReadonlySet<string>> {
  if (changes.length === 0) return new Set();
  const trial = `${index}-trial`;
  copyWithTime(index, trial);
  const options: GitOptions = { index: trial, workTree: worktree };
  const argv = ['update-index', '-z', '--add', '--remove', '--replace', '--stdin'];
  await git(dir, argv, { ...options, input: nul(changes.map(({ file }) => file)) });
  const output = await git(dir, ['diff-index', '--cached', '--raw', '-z', '--no-renames', tree], options);
  return new Set(parseRaw(output).map(({ file }) => file));
}

/** Enters the content on disk into the index. */
export async function putEntries(
  dir: TrustedDir,
  { worktree }: Place,
  index: string,
  changes: readonly RawChange[],
): Promise<void> {
  const options: GitOptions = { index, workTree: worktree };
  const lines = changes
    .toSorted((one, other) => Number(other.status === 'D') - Number(one.status === 'D'))
    .map(({ status, mode, id, file }) => (status === 'D' ? `0 ${id}\t${file}` : `${mode} ${id}\t${file}`));
  await git(dir, ['update-index', '-z', '--index-info'], { ...options, input: nul(lines) });
  await git(dir, ['update-index', '-q', '--refresh'], options).catch(() => {});
}

/** A new index would lose the staged changes, so a copy is required. */
export async function copyOwnIndex(
  dir: TrustedDir,
  place: Place,
  index: string,
  commit: string,
): Promise<void> {
  if (await copyIndex(dir, place, index, commit)) return;
  throw new Error(
    `The index of ${place.worktree} is missing, damaged or split, so nothing can be merged there. ` +
      'In that folder: git update-index --no-split-index --force-write-index',
  );
}
