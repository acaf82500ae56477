/** Copse's own folder inside a worktree: `.copse`, with a link to what all worktrees share. */

import { mkdir, readlink, symlink } from 'node:fs/promises';
import path from 'node:path';

import { NotInside, kindOf, realFolder } from './inside.ts';

/** Returns a note for each file or link that blocks it. */
export async function makeOwnFolder(worktree: string, home: string): Promise<readonly string[]> {
  const shared = path.join(home, '.copse', 'shared');
  await mkdir(shared, { recursive: true });
  try {
    const own = await realFolder(worktree, '.copse');
    const at = path.join(own, 'shared');
    if ((await kindOf(at)) === 'nothing') await symlink(shared, at);
    const isOurs = (await kindOf(at)) === 'link' && (await readlink(at)) === shared;
    return isOurs ? [] : [`.copse/shared in the worktree is not Copse’s link and was left alone: ${at}`];
  } catch (error) {
    if (error instanceof NotInside)
      return [`Copse has no folder of its own in the worktree: ${error.message}`];
    throw error;
  }
}
