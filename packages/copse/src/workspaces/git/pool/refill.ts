/**
 * Brings the pool to its size: makes entries, advances them to the base, and removes surplus ones.
 *
 * An entry without a seal was left by a killed process; it goes to the trash whole. An entry whose seal is broken has files
 * that Copse did not write. They may be a person's work, so the entry stays and is reported.
 */

import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { writeAtomically } from '../../../kernel/system/write-atomically.ts';
import type { CommitId } from '../../../kernel/ids.ts';
import type { RegisteredWorktree } from '../../../git/port.ts';
import type { PoolEntry, Refilled } from '../../ports/pool.ts';
import {
  type PoolPlace,
  allNumbers,
  breakSeal,
  bringForward,
  entryGitDir,
  entryLock,
  entryName,
  entryPath,
  seal,
  sealedEntries,
  whatIsWrong,
} from './entries.ts';
import {
  UNFINISHED,
  canonical,
  register,
  registrationNamed,
  repairMoved,
} from '../../../git/worktrees/registrations.ts';
import { checkOut } from '../../../git/worktrees/worktrees.ts';
import { headOf } from '../../../git/worktrees/place.ts';

type Tended = 'ready' | 'advanced' | 'removed' | 'cleared' | { readonly left: string };

export async function refill(pool: PoolPlace, target: number, base: CommitId): Promise<Refilled> {
  const counts = { ready: 0, advanced: 0, removed: 0, cleared: 0 };
  const left: { readonly path: string; readonly why: string }[] = [];
  for (const number of inOrder(pool, base)) {
    const isWanted = counts.ready + counts.advanced < target;
    const done = await pool.tryLock(entryLock(number), () => tend(pool, number, isWanted ? base : null));
    // Held: it is being handed out, or another process tends it.
    if (done === undefined) continue;
    if (typeof done.value === 'string') counts[done.value] += 1;
    else left.push({ path: entryPath(pool, number), why: done.value.left });
  }
  let made = 0;
  while (counts.ready + counts.advanced + made < target) {
    const entry = await makeEntry(pool, base, (place) => checkOut(pool.dir, place, []));
    if ('left' in entry) {
      left.push({ path: entry.path, why: entry.left });
      break;
    }
    made += 1;
  }
  return { ...counts, ready: counts.ready + counts.advanced + made, made, left };
}

/** Entries at the base first: they are kept. */
function inOrder(pool: PoolPlace, base: CommitId): readonly number[] {
  const atBase = new Set(
    sealedEntries(pool)
      .filter(({ commit }) => commit === base)
      .map(({ number }) => number),
  );
  const rank = (number: number) => (atBase.has(number) ? 0 : 1);
  return allNumbers(pool).toSorted((one, other) => rank(one) - rank(other));
}

/** Base null: the entry is surplus. */
async function tend(pool: PoolPlace, number: number, base: CommitId | null): Promise<Tended> {
  const entry = sealedEntries(pool).find((one) => one.number === number);
  if (entry === undefined)
    return clear(pool, number, 'a process was killed while it made the entry or handed it out', false);
  if (!existsSync(entry.path) && headOf(entryGitDir(pool, number)).commit === entry.commit) {
    return clear(pool, number, 'its folder was deleted', true);
  }
  await pool.withLock(() => repairMoved(pool.dir.commonDir, entry.path));
  const wrong = await whatIsWrong(pool, number);
  if (wrong !== undefined) return { left: wrong };
  if (base === null) {
    const cleared = await clear(pool, number, 'the pool is smaller now', true);
    return cleared === 'cleared' ? 'removed' : cleared;
  }
  return entry.commit === base ? 'ready' : advance(pool, entry, base);
}

/** Not under the repository's lock, which the trash may take. The caller holds the entry's lock. */
async function clear(pool: PoolPlace, number: number, why: string, isProven: boolean): Promise<Tended> {
  const worktree = entryPath(pool, number);
  const registered = registrationNamed(pool.dir.commonDir, entryName(number));
  if (registered && !isSame(registered.path, worktree) && existsSync(registered.path)) {
    return { left: `its registration is that of ${registered.path}` };
  }
  breakSeal(pool, number);
  const gitDir = entryGitDir(pool, number);
  const leftover = {
    path: existsSync(worktree) ? worktree : null,
    gitDir: existsSync(gitDir) ? gitDir : null,
    why,
    isProven,
  };
  if (leftover.path !== null || leftover.gitDir !== null) await pool.discard(leftover);
  return 'cleared';
}

function isSame(one: string, other: string): boolean {
  return canonical(one) === canonical(other);
}

async function advance(pool: PoolPlace, entry: PoolEntry, base: CommitId): Promise<Tended> {
  const gitDir = entryGitDir(pool, entry.number);
  breakSeal(pool, entry.number);
  await writeFile(path.join(gitDir, UNFINISHED), '\n');
  pool.onStep('entry_opened');
  await bringForward(pool.dir, { path: entry.path, gitDir, tip: base }, entry.commit);
  pool.onStep('entry_filled');
  writeAtomically(path.join(gitDir, 'HEAD'), `${base}\n`, { mode: 0o666 });
  await rm(path.join(gitDir, UNFINISHED));
  pool.onStep('entry_finished');
  const wrong = await seal(pool, entry.number, base);
  return wrong === undefined ? 'advanced' : { left: wrong };
}

/** A new entry, filled by the caller. */
export async function makeEntry(
  pool: PoolPlace,
  base: CommitId,
  fill: (place: RegisteredWorktree) => Promise<void>,
): Promise<PoolEntry | { readonly left: string; readonly path: string }> {
  for (let number = 1; ; number += 1) {
    if (isInUse(pool, number)) continue;
    const done = await pool.tryLock(entryLock(number), async () => {
      if (isInUse(pool, number)) return undefined;
      await mkdir(entryPath(pool, number), { recursive: true });
      const registration = await pool.withLock(async () =>
        register(pool.dir.commonDir, {
          name: entryName(number),
          path: canonical(entryPath(pool, number)),
          head: base,
          reason: 'Copse: kept ready for a task. Set workspace.pool to 0 to have none.',
        }),
      );
      if (registration === undefined) return undefined;
      const { gitDir, path: worktree } = registration;
      pool.onStep('entry_registered');
      await fill({ path: worktree, gitDir, tip: base });
      pool.onStep('entry_filled');
      await rm(path.join(gitDir, UNFINISHED), { force: true });
      pool.onStep('entry_finished');
      const wrong = await seal(pool, number, base);
      const entry = { number, path: entryPath(pool, number), commit: base };
      return wrong === undefined ? entry : { path: entry.path, left: wrong };
    });
    if (done?.value) return done.value;
  }
}

function isInUse(pool: PoolPlace, number: number): boolean {
  return existsSync(entryPath(pool, number)) || existsSync(entryGitDir(pool, number));
}
