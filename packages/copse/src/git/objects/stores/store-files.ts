/**
 * The files of a store during one look. Their folders are opened one by one and used through the open handle: an agent can
 * exchange a folder for a link at any moment.
 */

import { lstatSync, mkdirSync, renameSync } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';

import { defaultPolicy } from '../../../kernel/policy.ts';
import { hasCode } from '../../../kernel/system/error-code.ts';
import { openReal } from '../../../kernel/system/real-folder.ts';
import type { UnbroughtObject } from '../../port.ts';
import type { TrustedDir } from '../../process.ts';
import { type NewObject, fileOf, unusedBeside } from '../put.ts';
import { type Copied, copyLarge, readVerified } from './verified.ts';

/** What earlier looks of the process found. A file is read again when its stamp changes. */
export interface SeenFiles {
  readonly failed: Map<string, { readonly stamp: string; readonly left: UnbroughtObject }>;
  /** Stamps of files that are too large for a quick look. */
  readonly large: Map<string, string>;
}

const TURN = defaultPolicy.objectStores.turn;

export class StoreFiles {
  readonly left = new Map<string, UnbroughtObject>();
  /** The agent deleted them after they were listed. */
  readonly gone = new Set<string>();
  readonly #dir: TrustedDir;
  readonly #folder: string;
  readonly #seen: SeenFiles | undefined;
  readonly #isQuick: boolean;
  #largeBytes = 0;

  constructor(
    dir: TrustedDir,
    folder: string,
    { seen, isQuick = false }: { readonly seen?: SeenFiles; readonly isQuick?: boolean },
  ) {
    this.#dir = dir;
    this.#folder = folder;
    this.#seen = seen;
    this.#isQuick = isQuick;
  }

  /** Then it is in `left` again without a look into the file. */
  hasFailedBefore(id: string): boolean {
    const failed = this.#seen?.failed.get(id);
    const large = this.#isQuick ? this.#seen?.large.get(id) : undefined;
    if (failed === undefined && large === undefined) return false;
    const stamp = this.#through(id, stampOf);
    if (failed !== undefined && failed.stamp === stamp) this.left.set(id, failed.left);
    else if (large !== undefined && large === stamp) this.left.set(id, tooLarge(id));
    return this.left.has(id);
  }

  /** Reads trees, commits and tags until they are as many bytes as are held at a time. Blobs are passed on. */
  async readPart(
    ids: readonly string[],
    from: number,
    onBlob: (blob: NewObject) => Promise<void>,
  ): Promise<{ readonly named: readonly NewObject[]; readonly end: number }> {
    const named: NewObject[] = [];
    let [at, bytes] = [from, 0];
    for (; at < ids.length && bytes < defaultPolicy.git.broughtTreeBytes; at += 1) {
      if (at % TURN === 0) await setImmediate();
      const object = await this.#read(ids[at] ?? '');
      if (object === undefined) continue;
      if (object.type === 'blob') {
        await onBlob(object);
        continue;
      }
      named.push(object);
      bytes += object.content.length;
    }
    return { named, end: at };
  }

  /** Copies a large file at once. */
  async #read(id: string): Promise<NewObject | undefined> {
    const { stamp, found } = this.#through(id, (file) => ({
      stamp: stampOf(file),
      found: readVerified(this.#dir, file, id),
    })) ?? { stamp: undefined, found: { kind: 'gone' } as const };
    switch (found.kind) {
      case 'object':
        return found.object;
      case 'gone':
        this.gone.add(id);
        return undefined;
      case 'damaged':
        this.#fail({ id, why: found.why }, stamp);
        return undefined;
      case 'large':
        await this.#takeLarge(id, stamp);
        return undefined;
      default:
        throw new Error(`A file cannot be ${String(found satisfies never)}`);
    }
  }

  async #takeLarge(id: string, stamp: string | undefined): Promise<void> {
    if (this.#isQuick) {
      this.left.set(id, tooLarge(id));
      if (stamp !== undefined) this.#seen?.large.set(id, stamp);
      return;
    }
    const mostBytes = defaultPolicy.git.broughtBytes - this.#largeBytes;
    const { why, bytes, isBeyondLimits } = await this.#copyLarge(id, mostBytes);
    // With less than all bytes left, it may succeed in the next look.
    const isTried = isBeyondLimits !== true || this.#largeBytes === 0;
    this.#largeBytes += bytes;
    if (why === null) return;
    this.#fail({ id, why, ...(isBeyondLimits && { isBeyondLimits }) }, isTried ? stamp : undefined);
  }

  async #copyLarge(id: string, mostBytes: number): Promise<Copied> {
    const to = fileOf(path.join(this.#dir.commonDir, 'objects'), id);
    mkdirSync(path.dirname(to), { recursive: true });
    const from = unusedBeside(to);
    const real = openReal(path.dirname(this.#placeOf(id)));
    if (real === undefined) return UNREADABLE;
    try {
      const copied = await copyLarge(this.#dir, path.join(real.path, id.slice(2)), id, {
        to: from,
        mostBytes,
      });
      if (copied.why === null) renameSync(from, to);
      return copied;
    } catch (error) {
      if (hasCode(error, 'ENOENT', 'ELOOP', 'ENXIO', 'EACCES')) return UNREADABLE;
      throw error;
    } finally {
      real.close();
    }
  }

  #fail(left: UnbroughtObject, stamp: string | undefined): void {
    this.left.set(left.id, left);
    if (stamp !== undefined) this.#seen?.failed.set(left.id, { stamp, left });
  }

  #placeOf(id: string): string {
    return fileOf(path.join(this.#folder, 'new'), id);
  }

  /** Undefined when the folder is gone. */
  #through<T>(id: string, work: (file: string) => T): T | undefined {
    const real = openReal(path.dirname(this.#placeOf(id)));
    try {
      return real && work(path.join(real.path, id.slice(2)));
    } finally {
      real?.close();
    }
  }
}

const UNREADABLE: Copied = { why: 'it cannot be read', bytes: 0 };

function tooLarge(id: string): UnbroughtObject {
  return { id, why: 'it is large', isBeyondLimits: true };
}

/** The time of the last change of the inode too: an agent can set the other. */
function stampOf(file: string): string | undefined {
  const found = lstatSync(file, { throwIfNoEntry: false });
  return found && `${found.ino}/${found.size}/${found.mtimeMs}/${found.ctimeMs}`;
}
