/**
 * Replaces a file below a folder that an agent may be changing at the same moment.
 *
 * Every folder on the way is opened as a folder that is no link, and the next step starts from that open folder where the
 * system has a name for it (Linux), so that exchanging one for a link meanwhile changes nothing. The text goes into a new
 * file, which then takes the place of the old name: a link of that name is replaced, never followed.
 */

import { constants } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import path from 'node:path';

import { writeAtomically } from '../../kernel/system/write-atomically.ts';
import { hasCode } from '../../kernel/system/error-code.ts';
import { NotInside } from '../../kernel/system/in-folder.ts';

export interface InsideFile {
  readonly root: string;
  /** Relative to the root, with slashes. */
  readonly file: string;
  /** A folder below the root for the temporary file, which stays there if this process is killed. */
  readonly scratch: string;
}

export async function writeInside(
  { root, file, scratch }: InsideFile,
  text: string | Uint8Array,
): Promise<void> {
  await withFolder(root, path.posix.dirname(file), (target) =>
    withFolder(root, scratch, async (aside) => replace(aside, target, path.posix.basename(file), text)),
  );
}

function replace(aside: string, target: string, name: string, text: string | Uint8Array): void {
  try {
    writeAtomically(path.join(target, name), text, { mode: 0o644, temporaryFolder: aside });
  } catch (error) {
    if (hasCode(error, 'EISDIR', 'ENOTEMPTY', 'EEXIST')) throw new NotInside(`${name} is a folder.`);
    throw error;
  }
}

/** Passes a path that leads to exactly this folder until the work ends. */
async function withFolder(
  root: string,
  relative: string,
  work: (folder: string) => Promise<void>,
): Promise<void> {
  const names = relative.split('/').filter((part) => part !== '' && part !== '.');
  if (names.includes('..')) throw new NotInside(`${relative} leads outside.`);
  const enter = (outer: string, [name, ...deeper]: readonly string[]): Promise<void> => {
    if (name === undefined) return work(outer);
    return enterFolder(path.join(outer, name), name, { make: true }, (inner) => enter(inner, deeper));
  };
  await enterFolder(root, root, { make: false }, (folder) => enter(folder, names));
}

async function enterFolder(
  folder: string,
  name: string,
  { make }: { readonly make: boolean },
  work: (folder: string) => Promise<void>,
): Promise<void> {
  if (make) await mkdirIfMissing(folder);
  const handle = await openFolder(folder, name);
  try {
    await work(process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : folder);
  } finally {
    await handle.close();
  }
}

async function openFolder(folder: string, name: string): Promise<FileHandle> {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  try {
    return await open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch (error) {
    if (hasCode(error, 'ELOOP', 'ENOTDIR', 'EMLINK')) throw new NotInside(`${name} is not a folder.`);
    throw error;
  }
}

async function mkdirIfMissing(folder: string): Promise<void> {
  await mkdir(folder).catch((error: unknown) => {
    if (!hasCode(error, 'EEXIST')) throw error;
  });
}
