/**
 * Hands out a worktree that is already checked out.
 *
 *   break the seal, mark it → move the folder → register it anew → move its index    (one process at a time)
 *   → forget the old registration → write the files that differ → finished  (any number at once)
 *
 * - The seal goes first, so that no other process hands the entry out. After a kill the rest is either without a seal,
 *   which `refill` clears, or at the task's place and unfinished, which the next prepare sets aside.
 * - A task gets a new registration with only the index in it. Files in the entry's registration (a configuration, hooks, an
 *   unfinished rebase) do not come along.
 * - Each entry has a lock that the death of its holder releases. A process that finds it held tries the next entry.
 */

import { lstatSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { CommitId } from '../../../kernel/ids.ts';
import type { NewWorktree, RegisteredWorktree } from '../../../git/port.ts';
import type { Pool, PoolEntry, Taken } from '../../ports/pool.ts';
import { readIfThere } from '../../../kernel/system/read-if-there.ts';
import {
  type PoolPlace,
  breakSeal,
  bringForward,
  entryGitDir,
  entryLock,
  sealedEntries,
  whatIsWrong,
} from './entries.ts';
import { recycle } from './recycle.ts';
import { refill } from './refill.ts';
import { findTip } from '../../../git/refs/refs.ts';
import {
  type Registration,
  UNFINISHED,
  canonical,
  register,
  registrationAt,
} from '../../../git/worktrees/registrations.ts';
import type { TrustedDir } from '../../../git/process.ts';
import { holderOf } from '../../../git/worktrees/worktrees.ts';

export type PoolOptions = Omit<PoolPlace, 'dir' | 'onStep'> & Partial<Pick<PoolPlace, 'onStep'>>;

export function openPool(dir: TrustedDir, options: PoolOptions): Pool {
  const pool: PoolPlace = { onStep: () => {}, ...options, dir };
  return {
    take: (worktree) => take(pool, worktree),
    refill: (target, base) => refill(pool, target, base),
    recycle: (files, base, held) => recycle(pool, files, base, held),
    list: () => sealedEntries(pool),
  };
}

type Wanted = Parameters<Pool['take']>[0];

async function take(pool: PoolPlace, wanted: Wanted): Promise<Taken> {
  let isSpoiled = false;
  const isAtTip = ({ commit }: PoolEntry) => (commit === wanted.tip ? 0 : 1);
  for (const entry of sealedEntries(pool).toSorted((one, other) => isAtTip(one) - isAtTip(other))) {
    const done = await pool.tryLock(entryLock(entry.number), () => takeEntry(pool, entry, wanted));
    if (done === undefined || done.value === 'gone') continue;
    if (done.value === 'spoiled') isSpoiled = true;
    else return done.value;
  }
  return { kind: 'not_taken', because: isSpoiled ? 'spoiled' : 'empty' };
}

async function takeEntry(
  pool: PoolPlace,
  { number }: PoolEntry,
  wanted: Wanted,
): Promise<Taken | 'gone' | 'spoiled'> {
  // Looked at again, now under its lock.
  const entry = sealedEntries(pool).find((one) => one.number === number);
  if (entry === undefined) return 'gone';
  if ((await whatIsWrong(pool, number)) !== undefined) return 'spoiled';
  const moved = await pool.withLock(() => moveEntry(pool, entry, wanted));
  if ('kind' in moved) return moved;

  rmSync(entryGitDir(pool, number), { recursive: true, force: true });
  pool.onStep('unregistered');
  const place: RegisteredWorktree = { path: moved.path, gitDir: moved.gitDir, tip: wanted.tip };
  const wasAtTip = entry.commit === wanted.tip;
  if (!wasAtTip) await bringForward(pool.dir, place, entry.commit);
  pool.onStep('advanced');
  rmSync(path.join(place.gitDir, UNFINISHED));
  pool.onStep('finished');
  return { kind: 'taken', place, wasAtTip };
}

async function moveEntry(
  pool: PoolPlace,
  entry: PoolEntry,
  wanted: Wanted,
): Promise<Registration | Extract<Taken, { kind: 'not_taken' }>> {
  const { commonDir } = pool.dir;
  if (holderOf(pool.dir, wanted.branch) !== undefined) return { kind: 'not_taken', because: 'branch_in_use' };
  if ((await tipOf(pool.dir, wanted)) !== wanted.tip) {
    return { kind: 'not_taken', because: 'branch_moved' };
  }
  mkdirSync(path.dirname(wanted.path), { recursive: true });
  const target = canonical(wanted.path);
  const isThere = lstatSync(target, { throwIfNoEntry: false }) !== undefined;
  if (isThere || registrationAt(commonDir, target) !== undefined) {
    return { kind: 'not_taken', because: 'place_in_use' };
  }
  breakSeal(pool, entry.number);
  pool.onStep('unsealed');
  // Otherwise the repair of a moved worktree would take the remains of a kill for a finished one.
  writeFileSync(path.join(entryGitDir(pool, entry.number), UNFINISHED), '\n');
  pool.onStep('marked');
  renameSync(entry.path, target);
  pool.onStep('moved');
  const registration = await registerTask(commonDir, { ...wanted, path: target });
  pool.onStep('registered');
  renameSync(path.join(entryGitDir(pool, entry.number), 'index'), path.join(registration.gitDir, 'index'));
  pool.onStep('index_moved');
  return registration;
}

/** Reads the ref's file, which was nearly always just written: starting git would cost more than all the rest. */
async function tipOf(dir: TrustedDir, { branch, tip }: Wanted): Promise<CommitId | undefined> {
  const loose = readIfThere(path.join(dir.commonDir, 'refs', 'heads', branch))?.trimEnd();
  return loose === tip ? tip : findTip(dir, `refs/heads/${branch}`);
}

async function registerTask(
  commonDir: string,
  { name, path: worktree, branch }: NewWorktree,
): Promise<Registration> {
  for (let number = 1; ; number += 1) {
    const registration = register(commonDir, {
      name: number === 1 ? name : `${name}-${number}`,
      path: worktree,
      head: `ref: refs/heads/${branch}`,
      reason: `Copse: task ${name}. Remove it with: copse cleanup ${name}`,
    });
    if (registration) return registration;
  }
}
