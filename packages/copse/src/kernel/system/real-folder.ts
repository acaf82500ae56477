/** Folders that an agent could exchange for links. */

import { chmodSync, closeSync, constants, fstatSync, lstatSync, mkdirSync, openSync } from 'node:fs';
import path from 'node:path';

import { hasCode } from './error-code.ts';

/** Makes each missing level below `from`, so that nothing is created behind a link. `require` throws for a link. */
export function makeReal(
  from: string,
  folder: string,
  { require, mode }: { readonly require: (place: string) => void; readonly mode?: number },
): void {
  let place = from;
  for (const part of path.relative(from, folder).split(path.sep)) {
    place = path.join(place, part);
    mkdirSync(place, { recursive: true, ...(mode !== undefined && { mode }) });
    require(place);
  }
}

export interface OpenedFolder {
  /** Leads to exactly this folder until it is closed, also when another is put in its place. */
  readonly path: string;
  readonly changedMs: number;
  close(): void;
}

/** Opens a folder that needs no permission for it, which Node.js does not name. */
const O_PATH = 0o10000000;

/** Makes the folder readable for its owner. Undefined when there is none, or a link or a file in its place. */
export function openReal(place: string): OpenedFolder | undefined {
  if (process.platform !== 'linux') return checkedReal(place);
  let opened: number;
  try {
    opened = openSync(place, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return undefined;
    throw error;
  }
  const through = `/proc/self/fd/${opened}`;
  try {
    const { mode, mtimeMs } = fstatSync(opened);
    if ((mode & 0o700) !== 0o700) chmodSync(through, 0o700);
    return { path: through, changedMs: mtimeMs, close: () => closeSync(opened) };
  } catch (error) {
    closeSync(opened);
    throw error;
  }
}

/** Where the system has no /proc. */
function checkedReal(place: string): OpenedFolder | undefined {
  const found = lstatSync(place, { throwIfNoEntry: false });
  return found?.isDirectory() ? { path: place, changedMs: found.mtimeMs, close: () => {} } : undefined;
}
