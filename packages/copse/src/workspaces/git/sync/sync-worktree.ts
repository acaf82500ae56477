/** The part of a sync that writes into the worktree; its order is explained in sync.ts. */

import { lstatSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

import { writeAtomically } from '../../../kernel/system/write-atomically.ts';
import type { BranchName } from '../../../kernel/ids.ts';
import type { RefMove } from '../../../git/port.ts';
import type { SyncRefusal, SyncRequest } from '../../ports/worktrees.ts';
import { filesBelow, nul, onDisk, utf8, type RawChange, parseRaw } from '../../../git/output.ts';
import { copyIndex, copyWithTime } from '../../../git/private-index.ts';
import { GitFailed, type GitOptions, git, tryGit, type TrustedDir } from '../../../git/process.ts';
import { findTip, moveRef } from '../../../git/refs/refs.ts';
import { type Place, withScratch } from '../../../git/worktrees/place.ts';
import { type Move, giveUp, isOurLock, readNote, takeLock, writeNote } from './note.ts';

export type Applied =
  | { readonly kind: 'applied'; readonly files: number }
  | { readonly kind: 'refused'; readonly because: SyncRefusal; readonly paths: readonly string[] };

export async function applyMove(
  dir: TrustedDir,
  place: Place,
  move: Move,
  { onStep = () => {} }: Pick<SyncRequest, 'onStep'>,
): Promise<Applied> {
  if (!takeLock(place)) return { kind: 'refused', because: 'locked', paths: [] };
  onStep('locked');
  return withScratch(dir, async (scratch) => {
    const index = path.join(scratch, 'index');
    const refuse = (because: SyncRefusal, paths: readonly string[]): Applied => {
      giveUp(dir, place);
      return { kind: 'refused', because, paths };
    };
    const changes = await changesOf(dir, move);
    const inTheWay = await prepareIndex(dir, place, move, changes, index).catch((error: unknown) => {
      giveUp(dir, place);
      throw error;
    });
    if (inTheWay.length > 0) return refuse('in_the_way', inTheWay);
    writeNote(dir, place, { ...move, isWritten: false });
    onStep('noted');
    if (!(await writeFiles(dir, place, move.from, move.tree, index)))
      return refuse('in_the_way', await prepareIndex(dir, place, move, changes, index));
    onStep('files_written');
    const moved = move.conflict === null ? await moveBranch(dir, move) : undefined;
    if (moved?.kind === 'not_moved') {
      await takeBack(dir, place, move, index);
      return refuse(moved.because === 'locked' ? 'locked' : 'moved', []);
    }
    writeNote(dir, place, { ...move, isWritten: true });
    onStep('branch_moved');
    await writeIndex(dir, place, move, index);
    onStep('index_written');
    giveUp(dir, place);
    return { kind: 'applied', files: changes.length };
  });
}

/** Files of the worktree that a move would have to overwrite. Writes nothing there. */
export async function inTheWayOf(dir: TrustedDir, place: Place, move: Move): Promise<readonly string[]> {
  return withScratch(dir, async (scratch) => {
    const changes = await changesOf(dir, move);
    return prepareIndex(dir, place, move, changes, path.join(scratch, 'index'));
  });
}

export type Finished = {
  readonly kind: 'finished' | 'blocked' | 'nothing';
  readonly paths: readonly string[];
};

/** Finishes what a killed call began. `blocked`: edits made since then are where it would write. */
export async function finishMove(dir: TrustedDir, place: Place, branch: BranchName): Promise<Finished> {
  const move = readNote(dir, place);
  const tip = move && (await findTip(dir, `refs/heads/${branch}`));
  const isWritten = move !== undefined && (move.conflict === null ? tip === move.to : move.isWritten);
  const isStill = isWritten || tip === move?.from;
  // Without our lock, a person or an agent removed it and continued: their changes stay.
  if (move === undefined || move.branch !== branch || !isStill || !isOurLock(place)) {
    giveUp(dir, place);
    return { kind: 'nothing', paths: [] };
  }
  if (!isWritten) {
    const applied = await applyMove(dir, place, move, {});
    return applied.kind === 'applied'
      ? { kind: 'finished', paths: [] }
      : { kind: 'blocked', paths: applied.paths };
  }
  await withScratch(dir, async (scratch) => {
    const index = path.join(scratch, 'index');
    await copyOwnIndex(dir, place, index, move.from);
    await putEntries(dir, place, index, await changesOf(dir, move));
    await writeIndex(dir, place, move, index);
  });
  giveUp(dir, place);
  return { kind: 'finished', paths: [] };
}

async function changesOf(dir: TrustedDir, { from, tree }: Move): Promise<readonly RawChange[]> {
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

/**
 * Makes the private index from which the files are written, or names the paths that block it. A path that already has the
 * new content, in the index or on disk, does not block: a killed call wrote it, or the same change was made by hand.
 */
async function prepareIndex(
  dir: TrustedDir,
  place: Place,
  { from, tree }: Move,
  changes: readonly RawChange[],
  index: string,
): Promise<readonly string[]> {
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
  return [...inTheWay].map(utf8).toSorted();
}

function isSameVersion(one: RawChange, other: RawChange): boolean {
  return one.mode === other.mode && one.id === other.id;
}

/**
 * Files on disk that would be overwritten. Git itself overwrites ignored files, so it is not asked.
 */
function obstacle(
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
async function differingFrom(
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
async function putEntries(
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
async function copyOwnIndex(dir: TrustedDir, place: Place, index: string, commit: string): Promise<void> {
  if (await copyIndex(dir, place, index, commit)) return;
  throw new Error(
    `The index of ${place.worktree} is missing, damaged or split, so nothing can be merged there. ` +
      'In that folder: git update-index --no-split-index --force-write-index',
  );
}

/** False when git refused to overwrite a file; then it has written nothing. */
async function writeFiles(
  dir: TrustedDir,
  { worktree }: Place,
  from: string,
  to: string,
  index: string,
): Promise<boolean> {
  const argv = ['read-tree', '-u', '-m', from, to];
  const { code, stderr } = await tryGit(dir, argv, { index, workTree: worktree });
  if (code === 0) return true;
  if (/not uptodate|would be (overwritten|removed|lost)|would lose/.test(stderr)) return false;
  throw new GitFailed(argv, code, stderr);
}

async function takeBack(dir: TrustedDir, place: Place, move: Move, index: string): Promise<void> {
  if (await writeFiles(dir, place, move.tree, move.from, index)) return;
  throw new Error(
    `The branch ${move.branch} moved while ${move.to} was brought into ${place.worktree}, and files were edited there ` +
      'at the same moment. They were left as they are; see them with: git status',
  );
}

/** A git that was killed while it moved the branch left its lock. */
function moveBranch(dir: TrustedDir, { branch, from, to }: Move): Promise<RefMove> {
  const ref = `refs/heads/${branch}`;
  return moveRef(dir, { ref, from, to, reason: 'copse sync', isPatient: true });
}

/** By one rename, and under the lock that git itself would need for it. */
async function writeIndex(
  dir: TrustedDir,
  { gitDir, worktree }: Place,
  { conflict }: Move,
  index: string,
): Promise<void> {
  if (conflict !== null) {
    const files = new Set(conflict.stages.map(({ file }) => file));
    const none = '0'.repeat(conflict.base.length);
    const lines = [
      ...[...files].map((file) => `0 ${none}\t${file}`),
      ...conflict.stages.map(({ mode, id, stage, file }) => `${mode} ${id} ${stage}\t${file}`),
    ];
    const options: GitOptions = { index, workTree: worktree };
    await git(dir, ['update-index', '-z', '--index-info'], { ...options, input: nul(lines) });
    // Without the list of conflicts that git adds: after it, `Task:` would no longer be a trailer.
    writeAtomically(path.join(gitDir, 'MERGE_MSG'), conflict.message, { isDurable: true });
    writeAtomically(path.join(gitDir, 'MERGE_MODE'), '', { isDurable: true });
    writeAtomically(path.join(gitDir, 'MERGE_HEAD'), `${conflict.base}\n`, { isDurable: true });
  }
  const { mtime: modified } = statSync(index);
  writeAtomically(path.join(gitDir, 'index'), readFileSync(index), { mode: 0o644, modified });
}
