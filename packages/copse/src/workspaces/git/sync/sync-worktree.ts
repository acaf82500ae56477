/** The part of a sync that writes into the worktree; its order is explained in sync.ts. */

import { lstatSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { BranchName } from '../../../kernel/ids.ts';
import type { RefMove } from '../../../git/port.ts';
import type { SyncRefusal, SyncRequest } from '../../ports/sync.ts';
import { filesBelow, nul, onDisk, utf8, type RawChange, parseRaw } from '../../../git/output.ts';
import { copyIndex, copyWithTime } from '../../../git/private-index.ts';
import { GitFailed, type GitOptions, git, tryGit, type TrustedDir } from '../../../git/process.ts';
import { findTip, moveRef } from '../../../git/refs/refs.ts';
import { type Place, withScratch } from '../../../git/worktrees/place.ts';
import { type Move, giveUp, isOurLock, readNote, takeLock, writeNote, writeWhole } from './note.ts';

export type Applied =
  | { readonly applied: true; readonly files: number }
  | { readonly applied: false; readonly because: SyncRefusal; readonly paths: readonly string[] };

export async function applyMove(
  dir: TrustedDir,
  place: Place,
  move: Move,
  { onStep = () => {} }: Pick<SyncRequest, 'onStep'>,
): Promise<Applied> {
  if (!takeLock(place)) return { applied: false, because: 'locked', paths: [] };
  onStep('locked');
  return withScratch(dir, async (scratch) => {
    const index = path.join(scratch, 'index');
    const refuse = (because: SyncRefusal, paths: readonly string[]): Applied => {
      giveUp(dir, place);
      return { applied: false, because, paths };
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
    if (moved?.moved === false) {
      await takeBack(dir, place, move, index);
      return refuse(moved.because === 'locked' ? 'locked' : 'moved', []);
    }
    writeNote(dir, place, { ...move, isWritten: true });
    onStep('branch_moved');
    await writeIndex(dir, place, move, index);
    onStep('index_written');
    giveUp(dir, place);
    return { applied: true, files: changes.length };
  });
}

/** Files of the worktree that a move would have to overwrite. Writes nothing there. */
export async function inTheWayOf(dir: TrustedDir, place: Place, move: Move): Promise<readonly string[]> {
  return withScratch(dir, async (scratch) => {
    const changes = await changesOf(dir, move);
    return prepareIndex(dir, place, move, changes, path.join(scratch, 'index'));
  });
}

export type Finished = { readonly finished: boolean | null; readonly paths: readonly string[] };

/** Finishes what a killed call began: `true`; null when there was nothing, false when somebody's edits are in its way. */
export async function finishMove(dir: TrustedDir, place: Place, branch: BranchName): Promise<Finished> {
  const move = readNote(dir, place);
  const tip = move && (await findTip(dir, `refs/heads/${branch}`));
  const isWritten = move !== undefined && (move.conflict === null ? tip === move.to : move.isWritten);
  const isStill = isWritten || tip === move?.from;
  // Without our lock, somebody took it away and went on: what they made of it is theirs.
  if (move === undefined || move.branch !== branch || !isStill || !isOurLock(place)) {
    giveUp(dir, place);
    return { finished: null, paths: [] };
  }
  if (!isWritten) {
    const applied = await applyMove(dir, place, move, {});
    return applied.applied ? { finished: true, paths: [] } : { finished: false, paths: applied.paths };
  }
  await withScratch(dir, async (scratch) => {
    const index = path.join(scratch, 'index');
    await copyOwnIndex(dir, place, index, move.from);
    await putEntries(dir, place, index, await changesOf(dir, move));
    await writeIndex(dir, place, move, index);
  });
  giveUp(dir, place);
  return { finished: true, paths: [] };
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
 * Makes the private index from which the files can be written, or names what is in the way. What already is as it will
 * be, in the index or on disk, is not in the way: it was written before a kill, or somebody made the same change.
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
 * What is on disk where a file goes. Git would pass over ignored files here and overwrite them, and it would follow no
 * link: neither is left to it.
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
  // A folder that becomes a file may hold nothing but what goes with it.
  const isLeaving = found.isDirectory() && filesBelow(worktree, file).every((name) => removed.has(name));
  return isLeaving ? 'nothing' : 'in_the_way';
}

/** Of these paths, those whose file on disk would be committed as something else than the tree has. */
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

/** Enters into the index what the files already are. */
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

/** What was staged would be lost with an index that is not a copy. */
async function copyOwnIndex(dir: TrustedDir, place: Place, index: string, commit: string): Promise<void> {
  if (await copyIndex(dir, place, index, commit)) return;
  throw new Error(
    `The index of ${place.worktree} is missing, damaged or split, so nothing can be merged there. ` +
      'In that folder: git update-index --no-split-index --force-write-index',
  );
}

/** False when git found something in the way, in which case it has written nothing. */
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

/** Whoever was killed while the branch moved left its lock. */
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
    // Without the remark about conflicts that git adds: after it, the task would be no trailer any more.
    writeWhole(path.join(gitDir, 'MERGE_MSG'), conflict.message);
    writeWhole(path.join(gitDir, 'MERGE_MODE'), '');
    writeWhole(path.join(gitDir, 'MERGE_HEAD'), `${conflict.base}\n`);
  }
  const ready = path.join(gitDir, 'copse-sync-index');
  rmSync(ready, { force: true });
  const { mtime } = statSync(index);
  writeFileSync(ready, readFileSync(index), { flag: 'wx', mode: 0o644 });
  utimesSync(ready, mtime, mtime);
  renameSync(ready, path.join(gitDir, 'index'));
}
