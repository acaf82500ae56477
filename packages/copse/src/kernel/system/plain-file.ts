/**
 * Opening a file that an agent may replace at any moment.
 *
 * The file is examined after it was opened, so that it cannot be exchanged in between. A link is not followed, and a pipe
 * does not block. The caller rules out links among the folders of the path.
 */

import { type Stats, closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

import { hasCode } from './error-code.ts';

export type Plain<T> = { readonly kind: 'plain'; readonly value: T } | NotPlain;

type NotPlain =
  | { readonly kind: 'missing' }
  | { readonly kind: 'link' }
  /** A folder, a pipe and the like. */
  | { readonly kind: 'other' };

/** Throws all other errors of the system. */
export function withPlainFile<T>(file: string | Buffer, work: (opened: number, found: Stats) => T): Plain<T> {
  const opened = open(file);
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
    // One byte more, to notice a file that grows.
    const buffer = Buffer.alloc(Math.min(size, mostBytes) + 1);
    const length = readSync(opened, buffer, 0, buffer.length, 0);
    return { text: buffer.toString('utf8', 0, Math.min(length, mostBytes)), isCut: length > mostBytes };
  });
}

function open(file: string | Buffer): number | NotPlain {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  try {
    return openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return { kind: 'missing' };
    if (hasCode(error, 'ELOOP', 'EMLINK')) return { kind: 'link' };
    // A socket.
    if (hasCode(error, 'ENXIO')) return { kind: 'other' };
    throw error;
  }
}
