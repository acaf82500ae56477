/**
 * Keeps the beginning and the end of a command's output, so that endless output fills neither disk nor memory. The beginning
 * goes straight to the file; until the command ends, the end is in a ring buffer, a file beside it.
 */

import { closeSync, constants, fstatSync, mkdirSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';

export interface CheckOutput {
  write(chunk: Buffer): void;
  /** Joins the two parts; may be repeated. Returns the last lines, and the reason if output was lost. */
  close(): { readonly tail: string; readonly problem: string | null };
}

export interface OutputOptions {
  readonly file: string;
  readonly tailLines: number;
  /** The most bytes of each part. */
  readonly partBytes?: number;
}

const PART_BYTES = 8 * 1024 * 1024;
const TAIL_BYTES = 64 * 1024;

export function keepOutput({ file, tailLines, partBytes = PART_BYTES }: OutputOptions): CheckOutput {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const head = openAnew(file);
  const ring = `${file}.end`;
  let end: number | undefined;
  let total = 0;
  let problem: string | null = null;
  let result: ReturnType<CheckOutput['close']> | undefined;

  const write = (chunk: Buffer): void => {
    const toHead = chunk.subarray(0, Math.max(0, partBytes - total));
    writeAll(head, toHead);
    let at = Math.max(0, total - partBytes);
    total += chunk.length;
    // Only the end of a chunk that is larger than the ring survives.
    let rest = chunk.subarray(toHead.length);
    at += Math.max(0, rest.length - partBytes);
    rest = rest.subarray(Math.max(0, rest.length - partBytes));
    if (rest.length === 0) return;
    end ??= openAnew(ring);
    const first = rest.subarray(0, partBytes - (at % partBytes));
    writeAll(end, first, at % partBytes);
    writeAll(end, rest.subarray(first.length), 0);
  };

  const join = (): void => {
    if (end === undefined) return;
    const after = total - partBytes;
    const dropped = after - partBytes;
    if (dropped > 0) writeAll(head, Buffer.from(`\n\n[… ${dropped} bytes left out …]\n\n`));
    const begin = dropped > 0 ? after % partBytes : 0;
    copy(end, head, begin, Math.min(after, partBytes) - begin);
    copy(end, head, 0, begin);
  };

  const kept = (work: () => void): void => {
    if (problem !== null) return;
    try {
      work();
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error);
    }
  };

  return {
    write(chunk) {
      if (result === undefined) kept(() => write(chunk));
    },
    close() {
      if (result !== undefined) return result;
      kept(join);
      closeSync(head);
      if (end !== undefined) closeSync(end);
      rmSync(ring, { force: true });
      result = { tail: tailOf(file, tailLines), problem };
      return result;
    },
  };
}

/** Follows no link. */
function openAnew(file: string): number {
  const { O_RDWR, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;
  return openSync(file, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600);
}

function writeAll(file: number, bytes: Buffer, position: number | null = null): void {
  for (let written = 0; written < bytes.length;)
    written += writeSync(
      file,
      bytes,
      written,
      bytes.length - written,
      position === null ? null : position + written,
    );
}

function copy(from: number, to: number, begin: number, length: number): void {
  const buffer = Buffer.alloc(TAIL_BYTES);
  for (let done = 0; done < length;) {
    const read = readSync(from, buffer, 0, Math.min(buffer.length, length - done), begin + done);
    if (read === 0) return;
    writeAll(to, buffer.subarray(0, read));
    done += read;
  }
}

function tailOf(file: string, lines: number): string {
  const opened = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { size } = fstatSync(opened);
    const buffer = Buffer.alloc(Math.min(size, TAIL_BYTES));
    const read = readSync(opened, buffer, 0, buffer.length, size - buffer.length);
    return buffer.toString('utf8', 0, read).trimEnd().split('\n').slice(-lines).join('\n');
  } finally {
    closeSync(opened);
  }
}
