/** The part of a sync that writes into the worktree; its order is explained in sync.ts. */

import { statSync } from 'node:fs';
import path from 'node:path';

import { writeAtomically } from '../../../kernel/system/write-atomically.ts';
import type { BranchName } from '../../../kernel/ids.ts';
import type { RefMove } from '../../../git/port.ts';
import type { SyncRefusal, SyncRequest } from '../../ports/worktrees.ts';
import { nul } from '../../../git/output.ts';
import { readIndex } from '../../../git/private-index.ts';
import { GitFailed, type GitOptions, git, tryGit, type TrustedDir } from '../../../git/process.ts';
import { findTip, moveRef } from '../../../git/refs/refs.ts';
import { type Place, withScratch } from '../../../git/worktrees/place.ts';
import { changesOf, copyOwnIndex, prepareIndex, putEntries } from './move-files.ts';
import { type Move, type Note, giveUp, isOurLock, readNote, takeLock, writeNote } from './note.ts';
import { takeBack } from './take-back.ts';

export type Applied =
  | { readonly kind: 'applied'; readonly files: number }
  | { readonly kind: 'refused'; readonly because: SyncRefusal; readonly paths: readonly string[] };

/** What fails before the branch moved is taken back. */
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
    const prepare = async () => {
      const changes = await changesOf(dir, move);
      return { changes, ...(await prepareIndex(dir, place, move, changes, index)) };
    };
    const { changes, inTheWay, already } = await prepare().catch((error: unknown) => {
      giveUp(dir, place);
      throw error;
    });
    if (inTheWay.length > 0) return refuse('in_the_way', inTheWay);
    // Of the first call, if this one finishes what a killed one began.
    const note: Note = { ...move, already: readNote(dir, place)?.already ?? already, isWritten: false };
    const orTakeBack = async <T>(work: Promise<T>): Promise<T> => {
      try {
        return await work;
      } catch (error) {
        throw await failedAndTakenBack(dir, place, note, error);
      }
    };
    writeNote(dir, place, note);
    onStep('noted');
    if (!(await orTakeBack(writeFiles(dir, place, move.from, move.tree, index))))
      return refuse('in_the_way', (await prepareIndex(dir, place, move, changes, index)).inTheWay);
    onStep('files_written');
    const moved = move.conflict === null ? await orTakeBack(moveBranch(dir, move)) : undefined;
    if (moved?.kind === 'not_moved') {
      const left = await takeBackNoted(dir, place, note);
      if (left.length > 0) throw new Error(`${move.branch} moved meanwhile. ${leftText(place, left)}`);
      return refuse(moved.because === 'locked' ? 'locked' : 'moved', []);
    }
    writeNote(dir, place, { ...note, isWritten: true });
    onStep('branch_moved');
    await writeIndex(dir, place, move, index);
    onStep('index_written');
    giveUp(dir, place);
    return { kind: 'applied', files: changes.length };
  });
}

async function failedAndTakenBack(
  dir: TrustedDir,
  place: Place,
  note: Note,
  error: unknown,
): Promise<unknown> {
  // What cannot be taken back now is noted, and the next call tries again.
  const left = await takeBackNoted(dir, place, note).catch(() => []);
  if (left.length === 0) return error;
  const why = error instanceof Error ? error.message : String(error);
  return new Error(`${why}\n${leftText(place, left)}`, { cause: error });
}

/** Gives the lock back also when files remain: the person can go on, and the files are named. */
async function takeBackNoted(dir: TrustedDir, place: Place, note: Note): Promise<readonly string[]> {
  const left = await takeBack(dir, place, note, note.already ?? []);
  giveUp(dir, place);
  return left;
}

export function leftText({ worktree }: Place, files: readonly string[]): string {
  return `Not put back in ${worktree}: ${files.join(', ')}. See: git status`;
}

/** Files of the worktree that a move would have to overwrite. Writes nothing there. */
export async function inTheWayOf(dir: TrustedDir, place: Place, move: Move): Promise<readonly string[]> {
  return withScratch(dir, async (scratch) => {
    const changes = await changesOf(dir, move);
    return (await prepareIndex(dir, place, move, changes, path.join(scratch, 'index'))).inTheWay;
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
  await finishIndex(dir, place, move);
  return { kind: 'finished', paths: [] };
}

export type Settled =
  | { readonly kind: 'nothing' | 'finished' }
  | { readonly kind: 'taken_back'; readonly left: readonly string[] };

/**
 * Ends what a killed call began, in the only direction that needs no permission: a branch that has moved gets its index, and
 * what was written for a move that did not come about is taken back.
 */
export async function settleMove(dir: TrustedDir, place: Place, branch: BranchName): Promise<Settled> {
  const note = readNote(dir, place);
  // Without our lock, a person removed it and continued: their changes stay.
  if (note === undefined || note.branch !== branch || !isOurLock(place)) {
    giveUp(dir, place);
    return { kind: 'nothing' };
  }
  if ((await findTip(dir, `refs/heads/${branch}`)) !== note.to)
    return { kind: 'taken_back', left: await takeBackNoted(dir, place, note) };
  await finishIndex(dir, place, note);
  return { kind: 'finished' };
}

async function finishIndex(dir: TrustedDir, place: Place, move: Move): Promise<void> {
  await withScratch(dir, async (scratch) => {
    const index = path.join(scratch, 'index');
    await copyOwnIndex(dir, place, index, move.from);
    await putEntries(dir, place, index, await changesOf(dir, move));
    await writeIndex(dir, place, move, index);
  });
  giveUp(dir, place);
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
  writeAtomically(path.join(gitDir, 'index'), readIndex(index) ?? '', { mode: 0o644, modified });
}
