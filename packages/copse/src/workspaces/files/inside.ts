/**
 * Writing inside a folder that an agent can change. An agent can put a link where a folder or a file belongs, and a careless
 * write would follow it out of the worktree. So every folder on the path must be a real one, and files are created anew or
 * not at all.
 */

import { lstat, mkdir } from 'node:fs/promises';
import path from 'node:path';

import { hasCode } from '../../kernel/system/error-code.ts';
import { NotInside } from '../../kernel/system/in-folder.ts';

/** The absolute folder, made where it is missing. Throws `NotInside` if a link or a file is on the path. */
export async function realFolder(root: string, relative: string): Promise<string> {
  let folder = root;
  for (const segment of relative.split('/').filter((part) => part !== '' && part !== '.')) {
    if (segment === '..') throw new NotInside(`${relative} leads outside.`);
    folder = path.join(folder, segment);
    if ((await kindOf(folder)) === 'nothing') await mkdirIfMissing(folder);
    if ((await kindOf(folder)) !== 'folder')
      throw new NotInside(`${path.relative(root, folder)} is not a folder of the worktree.`);
  }
  return folder;
}

type Kind = 'nothing' | 'file' | 'folder' | 'link' | 'other';

export async function kindOf(entry: string): Promise<Kind> {
  const found = await lstat(entry).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  });
  if (found === undefined) return 'nothing';
  if (found.isSymbolicLink()) return 'link';
  if (found.isDirectory()) return 'folder';
  return found.isFile() ? 'file' : 'other';
}

async function mkdirIfMissing(folder: string): Promise<void> {
  await mkdir(folder).catch((error: unknown) => {
    if (!hasCode(error, 'EEXIST')) throw error;
  });
}
