/**
 * Reads loose objects without git: new commits and merges are not packed yet, and reading the file is faster than asking
 * another process.
 *
 * An agent can write any file there, and git may have the real object in a pack. So a file whose hash does not match its
 * name is ignored, and git is asked.
 */

import { createHash } from 'node:crypto';
import path from 'node:path';
import { inflateSync } from 'node:zlib';

import { defaultPolicy } from '../../kernel/policy.ts';
import { readPlainBytes } from '../../kernel/system/plain-file.ts';
import type { GitObject } from './object-reader.ts';
import type { TrustedDir } from '../process.ts';

const MOST_BYTES = defaultPolicy.objectMemory.looseBytes;

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
    // Packed meanwhile, damaged or too large: git is asked.
    return undefined;
  }
}
