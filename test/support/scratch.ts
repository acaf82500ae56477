/**
 * Where tests keep repositories and boards: in memory, where there is room for them and programs may run there. What
 * they do is to write thousands of small files, and git and SQLite wait until the disk has each of them.
 */

import { accessSync, constants, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const MEMORY = '/dev/shm';

/** Enough for the file that installs everything anew, several times over. */
const NEEDED_BYTES = 4 * 1024 ** 3;

let found: string | undefined;

/** A folder for the folders of tests. */
export function scratchFolder(): string {
  found ??= process.platform === 'linux' && isUsable(MEMORY) ? MEMORY : tmpdir();
  return found;
}

function isUsable(folder: string): boolean {
  let probe: string | undefined;
  try {
    const { bavail, bsize } = statfsSync(folder);
    if (bavail * bsize < NEEDED_BYTES) return false;
    probe = mkdtempSync(path.join(folder, 'copse-probe-'));
    writeFileSync(path.join(probe, 'program'), '', { mode: 0o755 });
    // Not where the file system is mounted without programs.
    accessSync(path.join(probe, 'program'), constants.X_OK);
    return true;
  } catch {
    return false;
  } finally {
    if (probe !== undefined) rmSync(probe, { recursive: true });
  }
}
