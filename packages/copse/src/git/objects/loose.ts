/**
 * Objects that lie in files of their own, read without asking git: what was just committed or merged is not packed yet, and
 * a question to another process takes longer than the file.
 *
 * Anybody can put a file there under any name, and git may have another object by that name in a pack. So what a file has
 * counts only if it is what the name says; everything else is for git to say.
 */

import { createHash } from 'node:crypto';
import path from 'node:path';
import { inflateSync } from 'node:zlib';

import { readPlainBytes } from '../../kernel/system/plain-file.ts';
import type { GitObject } from './object-reader.ts';
import type { TrustedDir } from '../process.ts';

/** Larger ones are no commits or folders that anybody waits for. */
const MOST_BYTES = 8 * 1024 ** 2;

export function readLoose(
  { objectFormat }: Pick<TrustedDir, 'objectFormat'>,
  folders: readonly string[],
  id: string,
): GitObject | undefined {
  if (!/^[0-9a-f]{40,64}$/.test(id)) return undefined;
  for (const folder of folders) {
    const whole = inflated(path.join(folder, id.slice(0, 2), id.slice(2)));
    if (whole === undefined || createHash(objectFormat).update(whole).digest('hex') !== id) continue;
    const nul = whole.indexOf(0);
    const [type = ''] = whole.toString('latin1', 0, nul).split(' ');
    return { id, type, content: whole.subarray(nul + 1) };
  }
  return undefined;
}

function inflated(file: string): Buffer | undefined {
  try {
    const packed = readPlainBytes(file, { mostBytes: MOST_BYTES });
    return packed && inflateSync(packed, { maxOutputLength: MOST_BYTES });
  } catch {
    // Packed, or damaged, or too large: git knows.
    return undefined;
  }
}
