/**
 * Reads files that an agent may write or replace at any moment. Every reader of such a file uses this module
 * (test/guards/plain-reads.test.ts).
 *
 * The file is examined after it was opened, so that it cannot be exchanged in between: only a regular file is read, a pipe
 * does not block, and never more than the given number of bytes is read. A link is not followed unless the caller asks for
 * it, for files that people keep elsewhere. The caller rules out links among the folders of the path.
 */

import {
  type Stats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';

import { defaultPolicy } from '../policy.ts';
import { shellQuoted } from '../shell.ts';
import { BeyondLimits } from '../unavailable.ts';
import { hasCode } from './error-code.ts';

export type Plain<T> = { readonly kind: 'plain'; readonly value: T } | NotPlain;

type NotPlain =
  | { readonly kind: 'missing' }
  | { readonly kind: 'link' }
  /** A folder, a pipe and the like. */
  | { readonly kind: 'other' };

export interface PlainOptions {
  readonly mostBytes?: number;
  /** Follows a link to a regular file. */
  readonly isFollowing?: boolean;
}

/** Throws all other errors of the system. */
export function withPlainFile<T>(
  file: string | Buffer,
  work: (opened: number, found: Stats) => T,
  { isFollowing = false }: Pick<PlainOptions, 'isFollowing'> = {},
): Plain<T> {
  const opened = open(file, isFollowing);
  if (typeof opened !== 'number') return opened;
  try {
    const found = fstatSync(opened);
    return found.isFile() ? { kind: 'plain', value: work(opened, found) } : { kind: 'other' };
  } finally {
    closeSync(opened);
  }
}

export interface Beginning {
  readonly text: string;
  /** Whether there is more. */
  readonly isCut: boolean;
}

/** Never more than `mostBytes` of it, even if it grows meanwhile. */
export function readPlainFile(file: string, mostBytes: number): Plain<Beginning> {
  return withPlainFile(file, (opened, { size }) => {
    const { bytes, isCut } = readBytes(opened, size, mostBytes);
    return { text: bytes.toString('utf8'), isCut };
  });
}

/** The same as bytes; for content that is not text. */
export function readPlainContent(
  file: string,
  { mostBytes = defaultPolicy.files.smallBytes, isFollowing = false }: PlainOptions,
): Plain<{ readonly bytes: Buffer; readonly isCut: boolean }> {
  return withPlainFile(file, (opened, { size }) => readBytes(opened, size, mostBytes), { isFollowing });
}

/** The file is not a regular file, or larger than such a file may be. */
class NotPlainFile extends BeyondLimits {
  override readonly name = 'NotPlainFile';

  constructor(file: string | Buffer, what: string) {
    super(
      `${file.toString()} ${what}.`,
      `If you did not make it, an agent did. Look at it: ls -l ${shellQuoted(file.toString())}`,
    );
  }
}

/** The whole content; undefined when there is no such file. Throws `NotPlainFile` for everything else. */
export function readPlainBytes(file: string | Buffer, options: PlainOptions = {}): Buffer | undefined {
  const { mostBytes = defaultPolicy.files.smallBytes } = options;
  const found = withPlainFile(
    file,
    (opened, { size }) => {
      const { bytes, isCut } = readBytes(opened, size, mostBytes);
      if (isCut) throw new NotPlainFile(file, `is larger than ${mostBytes} bytes`);
      return bytes;
    },
    options,
  );
  switch (found.kind) {
    case 'plain':
      return found.value;
    case 'missing':
      return undefined;
    default:
      throw notPlain(file, found);
  }
}

function notPlain(
  file: string | Buffer,
  { kind }: Exclude<NotPlain, { readonly kind: 'missing' }>,
): NotPlainFile {
  return new NotPlainFile(file, kind === 'link' ? 'is a link, which Copse does not follow' : 'is not a file');
}

/**
 * Copies the whole content, a part at a time. False when there is no such file. Throws `NotPlainFile` for everything else,
 * and leaves no copy of a file that is too large.
 */
export function copyPlainFile(
  from: string,
  to: string,
  { mostBytes, mode }: { readonly mostBytes: number; readonly mode: number },
): boolean {
  const tooLarge = () => new NotPlainFile(from, `is larger than ${mostBytes} bytes`);
  const found = withPlainFile(from, (opened, { size }) => {
    if (size > mostBytes) throw tooLarge();
    const written = openSync(to, 'w', mode);
    try {
      if (copyBytes(opened, written, mostBytes)) return;
      rmSync(to, { force: true });
      throw tooLarge();
    } finally {
      closeSync(written);
    }
  });
  if (found.kind === 'missing') return false;
  if (found.kind !== 'plain') throw notPlain(from, found);
  return true;
}

/** The same as text. */
export function readIfThere(file: string, options: PlainOptions = {}): string | undefined {
  return readPlainBytes(file, options)?.toString('utf8');
}

/** Undefined for everything that cannot be read as a regular file of this size: for files of which a damaged one counts as none. */
export function readIfPlain(file: string, options: PlainOptions = {}): string | undefined {
  try {
    return readIfThere(file, options);
  } catch {
    return undefined;
  }
}

/** To the end, or one byte more than allowed: the size that was told may be out of date. */
function readBytes(
  opened: number,
  size: number,
  mostBytes: number,
): { readonly bytes: Buffer; readonly isCut: boolean } {
  let buffer = Buffer.alloc(Math.min(Math.max(size, LEAST_BYTES), mostBytes) + 1);
  let length = 0;
  for (;;) {
    const read = readSync(opened, buffer, length, buffer.length - length, null);
    length += read;
    if (length > mostBytes) return { bytes: buffer.subarray(0, mostBytes), isCut: true };
    if (read === 0) return { bytes: buffer.subarray(0, length), isCut: false };
    if (length === buffer.length)
      buffer = Buffer.concat([buffer], Math.min(2 * buffer.length, mostBytes + 1));
  }
}

const LEAST_BYTES = 1_024;

/** False when there are more than `mostBytes`. */
function copyBytes(from: number, to: number, mostBytes: number): boolean {
  for (let copied = 0; ;) {
    const read = readSync(from, part, 0, part.length, null);
    if (read === 0) return true;
    copied += read;
    if (copied > mostBytes) return false;
    for (let written = 0; written < read;) written += writeSync(to, part, written, read - written);
  }
}

/** One for all copies: each of them is complete before another begins. */
const part = Buffer.allocUnsafeSlow(64 * 1_024);

function open(file: string | Buffer, isFollowing: boolean): number | NotPlain {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;
  try {
    // Most files that a command looks for are missing, and to make an error of that takes ten times as long.
    if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return { kind: 'missing' };
    return openSync(file, O_RDONLY | O_NONBLOCK | O_NOCTTY | (isFollowing ? 0 : O_NOFOLLOW));
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return { kind: 'missing' };
    if (hasCode(error, 'ELOOP', 'EMLINK')) return { kind: 'link' };
    // A socket, or a device that is not there.
    if (hasCode(error, 'ENXIO', 'ENODEV')) return { kind: 'other' };
    throw error;
  }
}
