/**
 * A git that was killed leaves its locks behind, and nothing but this takes them away.
 *
 * The lock of one ref is held for moments: one that has not changed for ten seconds belongs to nobody. That of all packed
 * refs may be held for as long as packing takes, so it needs proof as well: the git that made it was running when it was
 * first seen, so it is dead once every git of this repository of that moment is gone. Where processes cannot be listed it stays.
 */

import { type Stats, lstatSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { defaultPolicy } from '../kernel/policy.ts';
import { canListHolders, possibleHolders } from './lock-holders.ts';
import type { TrustedDir } from './directory/trusted-dir.ts';

const { deadMs, lookEveryMs, patienceMs } = defaultPolicy.gitLocks;

/** True when it is worth another try. */
export async function outliveLock(dir: TrustedDir, lock: string): Promise<boolean> {
  const gitDirs = [dir.plain, dir.raw, dir.commonDir];
  if (gitDirs.some((gitDir) => lock.startsWith(path.join(gitDir, 'refs') + path.sep)))
    return outlive(lock, null);
  if (!gitDirs.some((gitDir) => lock === path.join(gitDir, PACKED)) || !canListHolders) return false;
  // The one in Copse's own directory may be a link to it.
  const packed = path.join(dir.commonDir, PACKED);
  return outlive(packed, { file: packed.replace(/lock$/, 'new'), holders: () => possibleHolders(dir) });
}

const PACKED = 'packed-refs.lock';

/** Until the lock is gone, another one, or dead and taken away. */
export async function outliveRefLock(lock: string): Promise<void> {
  await outlive(lock, null);
}

/** What the holder of a lock that needs proof writes meanwhile. Left behind, it blocks the next holder too. */
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
