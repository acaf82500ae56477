/**
 * Removes the stale locks of killed gits.
 *
 * Git holds the lock of one ref for moments, so a lock that has not changed for ten seconds is stale. Packing may hold the lock
 * of all packed refs for longer, so that lock needs proof too: its holder was running when Copse first saw the lock, so it is
 * stale once every git of this repository that ran then has ended. Where Copse cannot list processes, it stays.
 */

import { type Stats, lstatSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { defaultPolicy } from '../kernel/policy.ts';
import { canListHolders, possibleHolders } from './lock-holders.ts';
import type { TrustedDir } from './process.ts';

const { deadMs, lookEveryMs, patienceMs } = defaultPolicy.gitLocks;

/** True when the caller should retry. */
export async function outliveLock(dir: TrustedDir, lock: string): Promise<boolean> {
  const gitDirs = [dir.plain, dir.raw, dir.commonDir];
  if (gitDirs.some((gitDir) => lock.startsWith(path.join(gitDir, 'refs') + path.sep)))
    return outlive(lock, null);
  if (!gitDirs.some((gitDir) => lock === path.join(gitDir, PACKED)) || !canListHolders) return false;
  // In Copse's own directory it may be a link to this one.
  const packed = path.join(dir.commonDir, PACKED);
  return outlive(packed, { file: packed.replace(/lock$/, 'new'), holders: () => possibleHolders(dir) });
}

const PACKED = 'packed-refs.lock';

/** Waits until the lock is gone, replaced, or stale and removed. */
export async function outliveRefLock(lock: string): Promise<void> {
  await outlive(lock, null);
}

/** The file that the holder of such a lock writes. Left behind, it blocks the next holder too. */
interface Draft {
  readonly file: string;
  readonly holders: () => Set<string>;
}

async function outlive(lock: string, draft: Draft | null): Promise<boolean> {
  const first = look(lock);
  if (first === undefined) return true;
  let suspects = draft?.holders() ?? new Set<string>();
  const until = performance.now() + patienceMs;
  while (performance.now() < until) {
    const now = look(lock);
    if (now === undefined || now.ino !== first.ino || now.mtimeMs !== first.mtimeMs) return true;
    if (draft !== null && suspects.size > 0) suspects = suspects.intersection(draft.holders());
    const changedMs = Math.max(now.mtimeMs, (draft === null ? undefined : look(draft.file))?.mtimeMs ?? 0);
    if (suspects.size === 0 && Date.now() - changedMs >= deadMs) {
      if (draft !== null) rmSync(draft.file, { force: true });
      rmSync(lock, { force: true });
      return true;
    }
    await setTimeout(lookEveryMs);
  }
  return false;
}

function look(file: string): Stats | undefined {
  return lstatSync(file, { throwIfNoEntry: false });
}
