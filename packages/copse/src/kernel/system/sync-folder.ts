import { closeSync, fsyncSync, openSync } from 'node:fs';

/** What was renamed into a folder, or made there, is on the disk. */
export function syncFolder(folder: string): void {
  const opened = openSync(folder, 'r');
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
