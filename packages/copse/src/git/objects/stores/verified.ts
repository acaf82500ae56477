/**
 * One object of an agent's store, read without trust: a regular file within limits, whose content has the hash that its name
 * says. Only the content is used further: Copse compresses it anew, whatever the agent's file looks like.
 */

import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  createWriteStream,
  fstatSync,
  lstatSync,
  openSync,
  read,
  rmSync,
} from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createDeflate, createInflate, inflateSync } from 'node:zlib';

import { defaultPolicy } from '../../../kernel/policy.ts';
import { hasCode } from '../../../kernel/system/error-code.ts';
import { readPlainBytes } from '../../../kernel/system/plain-file.ts';
import type { TrustedDir } from '../../process.ts';
import { type ObjectType, isObjectType } from '../packs.ts';
import type { NewObject } from '../put.ts';

export type Verified =
  | { readonly kind: 'object'; readonly object: NewObject }
  /** To be copied by `copyLarge`. */
  | { readonly kind: 'large' }
  /** The agent deleted it meanwhile. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'damaged'; readonly why: string };

const SMALL_BYTES = defaultPolicy.objectStores.smallBytes;
const SMALL_CONTENT_BYTES = defaultPolicy.objectStores.smallContentBytes;

export function readVerified(
  { objectFormat }: Pick<TrustedDir, 'objectFormat'>,
  file: string,
  id: string,
): Verified {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found === undefined) return { kind: 'gone' };
  if (!found.isFile()) return damaged('it is not a file');
  if (found.size > SMALL_BYTES) return { kind: 'large' };
  let whole: Buffer;
  try {
    const packed = readPlainBytes(file, { mostBytes: SMALL_BYTES });
    if (packed === undefined) return { kind: 'gone' };
    whole = inflateSync(packed, { maxOutputLength: SMALL_CONTENT_BYTES });
  } catch (error) {
    if (hasCode(error, 'ERR_BUFFER_TOO_LARGE')) return { kind: 'large' };
    return damaged('it cannot be read');
  }
  if (createHash(objectFormat).update(whole).digest('hex') !== id)
    return damaged('its content does not match its name');
  const said = headOf(whole);
  if (said?.size !== whole.length - (said?.bytes ?? 0)) return damaged('its head is wrong');
  return { kind: 'object', object: { id, type: said.type, content: whole.subarray(said.bytes) } };
}

function damaged(why: string): Extract<Verified, { kind: 'damaged' }> {
  return { kind: 'damaged', why };
}

interface ObjectHead {
  readonly type: ObjectType;
  readonly size: number;
  readonly bytes: number;
}

/** As git writes it: the type, a space, the size, a NUL byte. */
const MOST_HEAD_BYTES = 32;

function headOf(whole: Buffer): ObjectHead | undefined {
  const nul = whole.subarray(0, MOST_HEAD_BYTES).indexOf(0);
  const [, type = '', size] =
    /^(\w+) (0|[1-9]\d*)$/.exec(whole.toString('latin1', 0, Math.max(nul, 0))) ?? [];
  return size === undefined || !isObjectType(type) ? undefined : { type, size: Number(size), bytes: nul + 1 };
}

export interface Copied {
  readonly why: string | null;
  /** What it took. */
  readonly bytes: number;
  /** It may be sound. */
  readonly isBeyondLimits?: true;
}

/** Writes a file that is too large for the memory to `to`, compressed anew, or says why not. */
export async function copyLarge(
  { objectFormat }: Pick<TrustedDir, 'objectFormat'>,
  file: string,
  id: string,
  { to, mostBytes }: { readonly to: string; readonly mostBytes: number },
): Promise<Copied> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const hash = createHash(objectFormat);
  let [bytes, beginning] = [0, Buffer.alloc(0)];
  const opened = openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    if (!fstatSync(opened).isFile()) return { why: 'it is not a file', bytes };
    await pipeline(
      () => chunksOf(opened),
      createInflate(),
      async function* measured(chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          bytes += chunk.length;
          if (bytes > mostBytes) throw new TooLarge();
          if (beginning.length < MOST_HEAD_BYTES) beginning = Buffer.concat([beginning, chunk]);
          hash.update(chunk);
          yield chunk;
        }
      },
      createDeflate({ level: 1 }),
      createWriteStream(to, { flags: 'wx', mode: 0o444, flush: true }),
    );
    const said = headOf(beginning);
    const isSound = hash.digest('hex') === id && said?.size === bytes - (said?.bytes ?? 0);
    if (isSound && said.type === 'blob') return { why: null, bytes };
    rmSync(to, { force: true });
    if (!isSound) return { why: 'its content does not match its name', bytes };
    const why = `it is larger than ${SMALL_CONTENT_BYTES} bytes, and not a file`;
    return { why, bytes, isBeyondLimits: true };
  } catch (error) {
    rmSync(to, { force: true });
    if (error instanceof TooLarge)
      return {
        why: `more than ${defaultPolicy.git.broughtBytes} bytes are not taken at a time`,
        bytes,
        isBeyondLimits: true,
      };
    // Z_DATA_ERROR and the like. A full disk is not the agent's fault.
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_'))
      return { why: 'it cannot be read', bytes };
    throw error;
  } finally {
    closeSync(opened);
  }
}

class TooLarge extends Error {}

const readInto = promisify(read);
const CHUNK_BYTES = defaultPolicy.objectStores.chunkBytes;

async function* chunksOf(opened: number): AsyncGenerator<Buffer> {
  for (;;) {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    const { bytesRead } = await readInto(opened, buffer, 0, CHUNK_BYTES, null);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}
