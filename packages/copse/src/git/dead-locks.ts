/**
 * A git that was killed leaves its locks behind, and nothing but this takes them away.
 *
 * The lock of one ref is held for moments: one that has not changed for ten seconds belongs to nobody. That of all packed
 * refs may be held for as long as packing takes, so it needs proof as well: whoever made it was running when it was first
 * seen, so it is dead once every git of that moment is gone. Where processes cannot be listed it stays.
 */

import { type Stats, lstatSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { defaultPolicy } from '../kernel/policy.ts';
import type { TrustedDir } from './process.ts';

const { deadMs, lookEveryMs, patienceMs } = defaultPolicy.gitLocks;

/** True when it is worth another try. */
export async function outliveLock(dir: TrustedDir, lock: string): Promise<boolean> {
  const gitDirs = [dir.plain, dir.raw, dir.commonDir];
  if (gitDirs.some((gitDir) => lock.startsWith(path.join(gitDir, 'refs') + path.sep)))
    return outlive(lock, null);
  if (!gitDirs.some((gitDir) => lock === path.join(gitDir, PACKED)) || !canList) return false;
  // The one in Copse's own directory may be a link to it.
  const packed = path.join(dir.commonDir, PACKED);
  return outlive(packed, packed.replace(/lock$/, 'new'));
}

const PACKED = 'packed-refs.lock';
const canList = process.platform === 'linux';

/** Until the lock is gone, another one, or dead and taken away. */
export async function outliveRefLock(lock: string): Promise<void> {
  await outlive(lock, null);
}

/** `draft` is what the holder of a lock that needs proof writes meanwhile; left behind, it is in the way of the next one too. */
async function outlive(lock: string, draft: string | null): Promise<boolean> {
  const first = look(lock);
  if (first === undefined) return true;
  let suspects = draft === null ? new Set<string>() : gitsRunning();
  const until = performance.now() + patienceMs;
  while (performance.now() < until) {
    const now = look(lock);
    if (now === undefined || now.ino !== first.ino || now.mtimeMs !== first.mtimeMs) return true;
    if (suspects.size > 0) suspects = suspects.intersection(gitsRunning());
    const changedMs = Math.max(now.mtimeMs, (draft === null ? undefined : look(draft))?.mtimeMs ?? 0);
    if (suspects.size === 0 && Date.now() - changedMs >= deadMs) {
      if (draft !== null) rmSync(draft, { force: true });
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

/** Every git that may be changing refs, by pid and the time it began. */
function gitsRunning(): Set<string> {
  const found = new Set<string>();
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    try {
      if (!/^git(-|$)/m.test(readFileSync(`/proc/${pid}/comm`, 'utf8'))) continue;
      if (STANDING.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'))) continue;
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      const [state, began] = [0, 19].map((field) => stat.slice(stat.lastIndexOf(')') + 2).split(' ')[field]);
      if (state !== 'Z' && state !== 'X') found.add(`${pid} ${began}`);
    } catch {
      // It is gone.
    }
  }
  return found;
}

/** A git that stands by for questions runs for as long as whoever asks it. */
const STANDING =
  /\0(?:--stdin|--batch(?:-check|-command)?|daemon|fsmonitor--daemon|credential-cache--daemon)\0/;
