/**
 * Working in a folder that an agent can write. A link where a folder belongs is not followed. Folders are opened one by one and
 * used through the open handle, so that none can be exchanged for a link in between (where the system has /proc; elsewhere they
 * are checked right before).
 */

import { closeSync, constants, lstatSync, openSync } from 'node:fs';
import path from 'node:path';

import { hasCode } from './error-code.ts';

export class NotInside extends Error {
  override readonly name = 'NotInside';
}

/** Whether a path to an open folder leads to this folder, whatever its names lead to by now. */
export const hasHandles = process.platform === 'linux';

/** Passes a path that leads to exactly this folder until the work ends. Throws if a link or a file is on the path. */
export function inFolder<T>(top: string, names: readonly string[], work: (folder: string) => T): T {
  let [at, opened] = [top, undefined as number | undefined];
  const close = () => opened !== undefined && closeSync(opened);
  try {
    for (const name of names) {
      const inner = path.join(at, name);
      const handle = openFolder(inner, `${name} is not a folder in ${top}.`);
      close();
      opened = handle;
      at = hasHandles ? `/proc/self/fd/${handle}` : inner;
    }
    return work(at);
  } finally {
    close();
  }
}

function openFolder(folder: string, complaint: string): number {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  try {
    return openSync(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch (error) {
    if (!hasCode(error, 'ELOOP', 'EMLINK', 'ENOTDIR')) throw error;
    if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) throw error;
    throw new NotInside(complaint);
  }
}
