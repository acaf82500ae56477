import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, futimesSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

export interface AtomicWrite {
  /** Subject to the umask. */
  readonly mode?: number;
  /** On the disk, name included, when this returns. */
  readonly isDurable?: boolean;
  /** On the same file system; the file's own folder if absent. */
  readonly temporaryFolder?: string;
  readonly modified?: Date;
}

/**
 * Replaces a file whole or not at all: readers see the old content or the new. A link of that name is replaced, never
 * followed. The temporary name is random, because containers and threads on one disk share process ids.
 */
export function writeAtomically(file: string, content: string | Uint8Array, options: AtomicWrite = {}): void {
  const { mode = 0o600, isDurable = false, temporaryFolder = path.dirname(file), modified } = options;
  const name = `${path.basename(file)}.${randomBytes(9).toString('hex')}.new`;
  const temporary = path.join(temporaryFolder, name);
  const opened = openSync(temporary, 'wx', mode);
  try {
    try {
      writeFileSync(opened, content);
      if (modified !== undefined) futimesSync(opened, modified, modified);
      if (isDurable) fsyncSync(opened);
    } finally {
      closeSync(opened);
    }
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  if (isDurable) syncFolder(path.dirname(file));
}

/** Names that were created or renamed in the folder are on the disk when this returns. */
export function syncFolder(folder: string): void {
  const opened = openSync(folder, 'r');
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
