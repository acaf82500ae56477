/**
 * Working in a folder of a worktree, which is the agent's. A link where a folder belongs is not followed. Folders are opened
 * one by one and used through the open handle, so that none can be exchanged for a link in between (where the system has
 * /proc; elsewhere they are checked right before).
 */

import { closeSync, constants, lstatSync, openSync } from 'node:fs';
import path from 'node:path';

import { hasCode } from '../../kernel/system/error-code.ts';
import { NotInside } from './inside.ts';

/** Passes a path that leads to exactly this folder until the work ends. Throws if a link or a file is on the path. */
export function inFolder<T>(worktree: string, names: readonly string[], work: (folder: string) => T): T {
  const enter = (outer: string, [name, ...deeper]: readonly string[]): T => {
    if (name === undefined) return work(outer);
    const at = path.join(outer, name);
    const opened = openFolder(at, `${name} is not a folder of the worktree ${worktree}.`);
    try {
      return enter(process.platform === 'linux' ? `/proc/self/fd/${opened}` : at, deeper);
    } finally {
      closeSync(opened);
    }
  };
  return enter(worktree, names);
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
