/** How much a folder takes on the disk, as far as a time limit allows: there may be millions of files. */

import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { setImmediate as breathe } from 'node:timers/promises';

import type { FolderSize } from '../ports/furnishing.ts';

/** A system counts space in blocks of this size, whatever those of the disk are. */
const BLOCK_BYTES = 512;

/** Beside other work of this process. Links are not followed. What cannot be read counts as nothing. */
export async function folderSize(folder: string, untilMs: number): Promise<FolderSize> {
  let bytes = 0;
  let entries = 0;
  for (const size of sizesIn(folder)) {
    if (performance.now() > untilMs) return { bytes, isWhole: false };
    bytes += size;
    entries += 1;
    if (entries % ENTRIES_AT_ONCE === 0) await breathe();
  }
  return { bytes, isWhole: true };
}

const ENTRIES_AT_ONCE = 500;

function* sizesIn(folder: string): Generator<number> {
  const open = [folder];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const entry of entriesOf(at)) {
      const place = path.join(at, entry.name);
      if (entry.isDirectory()) open.push(place);
      yield (lstatSync(place, { throwIfNoEntry: false })?.blocks ?? 0) * BLOCK_BYTES;
    }
  }
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
