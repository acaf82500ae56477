/**
 * Reads loose objects without git: new commits and merges are not packed yet, and reading the file is faster than asking
 * another process.
 *
 * An agent can write any file there, and git may have the real object in a pack. So a file whose hash does not match its
 * name is ignored, and git is asked.
 */

import path from 'node:path';
import { inflateSync } from 'node:zlib';

import { defaultPolicy } from '../../kernel/policy.ts';
import { RecentCache } from '../../kernel/recent-cache.ts';
import { alone } from '../../kernel/system/alone.ts';
import { readPlainBytes } from '../../kernel/system/plain-file.ts';
import { hashOf } from './object-hash.ts';
import type { GitObject } from './object-reader.ts';
import type { TrustedDir } from '../process.ts';

const {
  looseBytes: MOST_BYTES,
  recentLoose: MOST_RECENT,
  smallBytes: SMALL_BYTES,
} = defaultPolicy.objectMemory;

/** Small objects that were read lately: one command asks for the same few commits many times. */
const recent = new RecentCache<string, { readonly packed: Buffer; readonly object: GitObject }>(MOST_RECENT);

export function readLoose(
  { objectFormat }: Pick<TrustedDir, 'objectFormat'>,
  folders: readonly string[],
  id: string,
): GitObject | undefined {
  if (!/^[0-9a-f]{40,64}$/.test(id)) return undefined;
  for (const folder of folders) {
    const packed = bytesOf(path.join(folder, id.slice(0, 2), id.slice(2)));
    if (packed === undefined) continue;
    const known = recent.get(id);
    if (known?.packed.equals(packed)) return known.object;
    const whole = inflated(packed);
    if (whole === undefined || hashOf(objectFormat, whole) !== id) continue;
    const nul = whole.indexOf(0);
    const [type = ''] = whole.toString('latin1', 0, nul).split(' ');
    const content = whole.subarray(nul + 1);
    if (whole.length > SMALL_BYTES) return { id, type, content };
    const object = { id, type, content: alone(content) };
    recent.set(id, { packed: alone(packed), object });
    return object;
  }
  return undefined;
}

function bytesOf(file: string): Buffer | undefined {
  try {
    return readPlainBytes(file, { mostBytes: MOST_BYTES });
  } catch {
    // Packed meanwhile, or too large: git is asked.
    return undefined;
  }
}

function inflated(packed: Buffer): Buffer | undefined {
  try {
    return inflateSync(packed, { maxOutputLength: MOST_BYTES });
  } catch {
    // Damaged or too large: git is asked.
    return undefined;
  }
}
