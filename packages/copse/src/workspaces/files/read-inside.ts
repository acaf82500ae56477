/** Reading inside a folder that an agent can change: no link is followed, neither at the end nor on the path. */

import path from 'node:path';

import { hasCode } from '../../kernel/system/error-code.ts';
import { type Beginning, readPlainFile } from '../../kernel/system/plain-file.ts';
import { NotInside, inFolder } from '../../kernel/system/in-folder.ts';

export interface ReadInside {
  readonly root: string;
  /** Relative to the root, with slashes. */
  readonly file: string;
}

/** Undefined when there is no such regular file. */
export function readInside({ root, file }: ReadInside, mostBytes: number): Beginning | undefined {
  const folders = file.split('/');
  const name = folders.pop() ?? '';
  try {
    const read = inFolder(root, folders, (folder) => readPlainFile(path.join(folder, name), mostBytes));
    return read.kind === 'plain' ? read.value : undefined;
  } catch (error) {
    if (error instanceof NotInside || hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}
