/**
 * Frees disk space: deletes the files of a removed worktree that git holds, and nothing else.
 *
 * A file is deleted only if a tree that a ref keeps has this path, this kind and exactly these bytes; Copse computes git's id
 * of the bytes to compare them. Ignored, changed and unknown files and nested repositories stay until the
 * trash is emptied. No link is followed, in the path or at its end. It can be stopped and restarted at any point.
 */

import { createHash } from 'node:crypto';
import { lstatSync, readSync, readlinkSync, rmdirSync, unlinkSync } from 'node:fs';
import { setImmediate as breathe } from 'node:timers/promises';

import type { HeldFile } from '../ports/trash.ts';
import { hasCode } from '../../kernel/system/error-code.ts';
import { withPlainFile } from '../../kernel/system/plain-file.ts';

export interface Thinned {
  readonly deleted: number;
  /** Files whose content differs from git's. */
  readonly kept: number;
}

export interface ThinOptions {
  readonly objectFormat: 'sha1' | 'sha256';
  readonly signal?: AbortSignal;
}

export async function thin(
  files: string,
  held: Iterable<HeldFile> | AsyncIterable<HeldFile>,
  { objectFormat, signal }: ThinOptions,
): Promise<Thinned> {
  const top = Buffer.from(files);
  const folders = new Folders(top);
  let deleted = 0;
  let kept = 0;
  let sinceBreath = 0;
  for await (const file of held) {
    if (signal?.aborted) break;
    const place = folders.place(file.path);
    if (place === undefined) continue;
    const fate = deleteIfHeld(place, file, objectFormat);
    if (fate.is === 'deleted') {
      deleted += 1;
      folders.emptied(file.path);
    } else if (fate.is === 'differs') kept += 1;
    sinceBreath += fate.bytes + COST_PER_FILE_BYTES;
    if (sinceBreath < BREATH_BYTES) continue;
    sinceBreath = 0;
    await breathe();
  }
  folders.removeEmpty();
  return { deleted, kept };
}

// Yields to other work in this process about every 10 ms.
const BREATH_BYTES = 4 * 1024 * 1024;
const COST_PER_FILE_BYTES = 64 * 1024;
const CHUNK_BYTES = 64 * 1024;

interface Fate {
  readonly is: 'absent' | 'deleted' | 'differs';
  readonly bytes: number;
}

function deleteIfHeld(place: Buffer, { mode, id }: HeldFile, format: ThinOptions['objectFormat']): Fate {
  const before = lstatSync(place, { throwIfNoEntry: false });
  if (before === undefined) return { is: 'absent', bytes: 0 };
  const differs: Fate = { is: 'differs', bytes: before.size };
  const found = before.isSymbolicLink()
    ? mode === '120000' && blobId([readlinkSync(place, { encoding: 'buffer' })], format)
    : before.isFile() && mode === (isExecutable(before.mode) ? '100755' : '100644') && fileId(place, format);
  if (found !== id) return differs;
  const after = lstatSync(place);
  const isUntouched =
    after.ino === before.ino && after.size === before.size && after.ctimeMs === before.ctimeMs;
  if (!isUntouched) return differs;
  unlinkSync(place);
  return { is: 'deleted', bytes: before.size };
}

function isExecutable(mode: number): boolean {
  return (mode & 0o100) !== 0;
}

/** Undefined when the file changed while it was read, or is not a file any more. */
function fileId(place: Buffer, format: ThinOptions['objectFormat']): string | undefined {
  const found = withPlainFile(place, (opened, { size }) => {
    const hash = createHash(format).update(`blob ${size}\0`);
    const buffer = Buffer.alloc(Math.min(CHUNK_BYTES, size + 1));
    let total = 0;
    for (let read = readSync(opened, buffer); read > 0; read = readSync(opened, buffer)) {
      hash.update(buffer.subarray(0, read));
      total += read;
    }
    return total === size ? hash.digest('hex') : undefined;
  });
  return found.kind === 'plain' ? found.value : undefined;
}

function blobId([content]: readonly [Buffer], format: ThinOptions['objectFormat']): string {
  return createHash(format).update(`blob ${content.length}\0`).update(content).digest('hex');
}

/** The folders on the way to a file: real ones only. */
class Folders {
  readonly #top: Buffer;
  readonly #known = new Map<string, boolean>();
  readonly #emptied = new Set<string>();

  constructor(top: Buffer) {
    this.#top = top;
  }

  /** Where the file would be, or undefined if the way leads through a link, out of the tree, or nowhere. */
  place(path: Buffer): Buffer | undefined {
    const parts = asKey(path).split('/');
    if (parts.some((part) => part === '' || part === '.' || part === '..')) return undefined;
    return this.#isFolder(parts.slice(0, -1)) ? this.#at(asKey(path)) : undefined;
  }

  emptied(path: Buffer): void {
    const parts = asKey(path).split('/').slice(0, -1);
    for (; parts.length > 0; parts.pop()) this.#emptied.add(parts.join('/'));
  }

  /** Only folders that lost a file here; git does not hold one that was empty before. */
  removeEmpty(): void {
    for (const folder of [...this.#emptied].toSorted((a, b) => b.length - a.length)) {
      try {
        rmdirSync(this.#at(folder));
      } catch (error) {
        if (!hasCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT')) throw error;
      }
    }
  }

  #isFolder(parts: readonly string[]): boolean {
    const folder = parts.join('/');
    const known = this.#known.get(folder);
    if (known !== undefined) return known;
    const isReal =
      (parts.length === 0 || this.#isFolder(parts.slice(0, -1))) &&
      lstatSync(this.#at(folder), { throwIfNoEntry: false })?.isDirectory() === true;
    this.#known.set(folder, isReal);
    return isReal;
  }

  #at(key: string): Buffer {
    return key === '' ? this.#top : Buffer.concat([this.#top, Buffer.from(`/${key}`, 'latin1')]);
  }
}

/** One character per byte, so that any name survives. */
function asKey(path: Buffer): string {
  return path.toString('latin1');
}
