/** How much a folder takes on the disk, as far as a time limit allows: there may be millions of files. */

import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';

export interface FolderSize {
  readonly bytes: number;
  /** False when the time was up before everything was counted. */
  readonly isWhole: boolean;
}

/** A system counts space in blocks of this size, whatever those of the disk are. */
const BLOCK_BYTES = 512;

/** Links are not followed. What cannot be read counts as nothing. */
export function folderSize(folder: string, untilMs: number): FolderSize {
  const open = [folder];
  let bytes = 0;
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const entry of entriesOf(at)) {
      if (performance.now() > untilMs) return { bytes, isWhole: false };
      const place = path.join(at, entry.name);
      if (entry.isDirectory()) open.push(place);
      bytes += (lstatSync(place, { throwIfNoEntry: false })?.blocks ?? 0) * BLOCK_BYTES;
    }
  }
  return { bytes, isWhole: true };
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
