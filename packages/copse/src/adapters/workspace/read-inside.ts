/** Reading inside a folder that somebody else may have prepared: no link is followed, neither at the end nor on the way. */

import { constants } from 'node:fs';
import { open, readlink, realpath } from 'node:fs/promises';
import path from 'node:path';

import { isCode } from './inside.ts';

export interface ReadInside {
  readonly root: string;
  readonly file: string;
}

/** The beginning of a file and whether there is more; undefined when there is no such file, or something else in its place. */
export async function readInside(
  { root, file }: ReadInside,
  mostBytes: number,
): Promise<{ readonly text: string; readonly isCut: boolean } | undefined> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const place = path.join(await realpath(root).catch(() => root), file);
  // Opening a pipe that nobody writes to would wait for somebody.
  const opened = await open(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((error: unknown) => {
    if (isCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EMLINK', 'ENXIO')) return undefined;
    throw error;
  });
  if (opened === undefined) return undefined;
  try {
    // Asked of what was opened where the system can say, so that nothing is exchanged in between.
    const really = await readlink(`/proc/self/fd/${opened.fd}`).catch(() => realpath(place).catch(() => ''));
    const found = await opened.stat();
    if (really !== place || !found.isFile()) return undefined;
    const buffer = Buffer.alloc(Math.min(found.size, mostBytes));
    const { bytesRead } = await opened.read(buffer, 0, buffer.length, 0);
    return { text: buffer.toString('utf8', 0, bytesRead), isCut: found.size > bytesRead };
  } finally {
    await opened.close();
  }
}
