import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Names that were created or renamed in the folder are on the disk when this returns. */
export function syncFolder(folder: string): void {
  const opened = openSync(folder, 'r');
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
