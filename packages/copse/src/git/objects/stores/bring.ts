/**
 * Brings the objects of an agent's store into the repository.
 *
 *   list → leave out what the repository has → verify → blobs → trees, commits and tags, each after what it names → sync
 *
 * An object comes only after all objects that it names, so an object in the repository has all that it refers to, also after
 * a kill. The store stays unchanged until it is removed, so whatever a kill leaves is brought by the next call. Any number of
 * processes may do so at once, and while the agent works.
 */

import { existsSync, mkdirSync, renameSync } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';

import { defaultPolicy } from '../../../kernel/policy.ts';
import { hasCode } from '../../../kernel/system/error-code.ts';
import { syncFolder } from '../../../kernel/system/write-atomically.ts';
import { BeyondLimits } from '../../../kernel/unavailable.ts';
import type { UnbroughtObject } from '../../port.ts';
import { stampOfFile } from '../../directory/trusted-dir.ts';
import { type TrustedDir, git } from '../../process.ts';
import { packEntry, writePack } from '../packs.ts';
import { type NewObject, PACKED_FROM, fileOf, putAll, unusedBeside } from '../put.ts';
import { type FolderTimes, listNew } from './list.ts';
import { inOrder } from './order.ts';
import { copyLarge, readVerified } from './verified.ts';

export const bringSteps = ['blobs', 'objects', 'synced'] as const;
type BringStep = (typeof bringSteps)[number];

/** What a process has seen of a store. */
export interface SeenObjects {
  /** In the repository, so not looked at again. */
  readonly known: Set<string>;
  /** Damaged, with a stamp of the file: verified again when the file changes. */
  readonly damaged: Map<string, string>;
  /** Could not be brought the last time. */
  readonly left: Set<string>;
  /** Folders of the store that were read. */
  readonly folders: Map<string, number>;
}

export interface StoreBringing {
  readonly seen?: SeenObjects;
  readonly mostObjects?: number;
  /** Leaves out those that take long. */
  readonly isQuick?: boolean;
  readonly onStep?: (step: BringStep) => void;
}

/** Returns what cannot be brought. While the agent works some of it may come later. */
export async function bring(
  dir: TrustedDir,
  folder: string,
  options: StoreBringing = {},
): Promise<readonly UnbroughtObject[]> {
  const { seen, mostObjects = defaultPolicy.git.broughtObjects, onStep = () => {} } = options;
  const objects = path.join(dir.commonDir, 'objects');
  const { ids: listed, times } = listNew(folder, mostObjects, seen?.folders);
  const ids = [...new Set([...listed, ...(seen?.left ?? [])])].filter((id) => !seen?.known.has(id));
  const lacking = await lackingIn(dir, ids);
  const writer = new ObjectWriter(dir, objects);
  const { named, left } = await bringBlobs(dir, folder, [...lacking], { ...options, objects, writer });
  await writer.flush();
  onStep('blobs');
  const { ordered, incomplete } = await inOrder(dir, named, (ids) => lackingIn(dir, ids));
  for (const object of ordered) await writer.add(object);
  await writer.flush();
  onStep('objects');
  const isLeft = new Set([...left, ...incomplete].map(({ id }) => id));
  const done = ids.filter((id) => !isLeft.has(id));
  // Also those that an earlier call wrote: the caller may remove the only other copy.
  for (const name of new Set(done.map((id) => id.slice(0, 2)))) syncIfThere(path.join(objects, name));
  onStep('synced');
  if (seen !== undefined) remember(seen, done, isLeft, times);
  return [...left, ...incomplete];
}

function remember(
  seen: SeenObjects,
  done: readonly string[],
  left: ReadonlySet<string>,
  times: FolderTimes,
): void {
  for (const id of done) seen.known.add(id);
  seen.left.clear();
  for (const id of left) seen.left.add(id);
  for (const [name, changedMs] of times) seen.folders.set(name, changedMs);
}

interface Blobs {
  /** Trees, commits and tags. */
  readonly named: readonly NewObject[];
  readonly left: readonly UnbroughtObject[];
}

/** Lets other work of this process go on after so many. */
const TURN = 32;

async function bringBlobs(
  dir: TrustedDir,
  folder: string,
  ids: readonly string[],
  {
    seen,
    isQuick = false,
    objects,
    writer,
  }: StoreBringing & { readonly objects: string; readonly writer: ObjectWriter },
): Promise<Blobs> {
  const [named, left]: [NewObject[], UnbroughtObject[]] = [[], []];
  const { broughtTreeBytes, broughtBytes } = defaultPolicy.git;
  let [namedBytes, largeBytes] = [0, 0];
  for (const [at, id] of ids.entries()) {
    if (at % TURN === 0) await setImmediate();
    const file = fileOf(path.join(folder, 'new'), id);
    const stamp = seen === undefined ? '' : stampOfFile(file);
    const isKnown = seen !== undefined && seen.damaged.get(id) === stamp;
    const found = isKnown
      ? ({ kind: 'damaged', why: 'it is damaged' } as const)
      : readVerified(dir, file, id);
    if (found.kind === 'gone') continue;
    if (found.kind === 'object') {
      const { object } = found;
      if (object.type === 'blob') await writer.add(object);
      else named.push(object);
      if (object.type !== 'blob') namedBytes += object.content.length;
      if (namedBytes > broughtTreeBytes)
        throw tooMuch(folder, `trees and commits of more than ${broughtTreeBytes} bytes`);
      continue;
    }
    let why: string | null = found.kind === 'damaged' ? found.why : 'it is large';
    if (found.kind === 'large' && !isQuick) {
      const copied = await bringLarge(dir, file, id, { objects, mostBytes: broughtBytes - largeBytes });
      largeBytes += copied.bytes;
      why = copied.why;
    }
    if (why === null) continue;
    left.push({ id, why });
    if (found.kind === 'damaged') seen?.damaged.set(id, stamp);
  }
  return { named, left };
}

function tooMuch(folder: string, what: string): BeyondLimits {
  return new BeyondLimits(
    `The object store ${folder} has ${what}, which is more than Copse takes at a time.`,
    `Look at it: du -sh ${folder}`,
  );
}

/** Those that the repository does not have. Most new objects are not packed, so git is asked about few. */
async function lackingIn(dir: TrustedDir, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const objects = path.join(dir.commonDir, 'objects');
  const notLoose = ids.filter((id) => !existsSync(fileOf(objects, id)));
  if (notLoose.length === 0) return new Set();
  const input = notLoose.map((id) => `${id}\n`).join('');
  const argv = ['cat-file', '--batch-check=%(objectname)', '--buffer'];
  const lines = (await git(dir, argv, { input })).toString('latin1').split('\n');
  return new Set(
    lines.flatMap((line) => (line.endsWith(' missing') ? [line.slice(0, -' missing'.length)] : [])),
  );
}

async function bringLarge(
  dir: TrustedDir,
  file: string,
  id: string,
  { objects, mostBytes }: { readonly objects: string; readonly mostBytes: number },
): Promise<{ readonly why: string | null; readonly bytes: number }> {
  const to = fileOf(objects, id);
  mkdirSync(path.dirname(to), { recursive: true });
  const from = unusedBeside(to);
  try {
    const copied = await copyLarge(dir, file, id, { to: from, mostBytes });
    if (copied.why === null) renameSync(from, to);
    return copied;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ELOOP', 'ENXIO', 'EACCES')) return { why: 'it cannot be read', bytes: 0 };
    throw error;
  }
}

/** Writes objects in the order in which they are added: a few as files, many as a pack. */
class ObjectWriter {
  readonly #dir: TrustedDir;
  readonly #objects: string;
  #waiting: NewObject[] = [];
  #bytes = 0;

  constructor(dir: TrustedDir, objects: string) {
    this.#dir = dir;
    this.#objects = objects;
  }

  async add(object: NewObject): Promise<void> {
    this.#waiting.push(object);
    this.#bytes += object.content.length;
    if (this.#bytes > MOST_WAITING_BYTES) await this.flush();
  }

  async flush(): Promise<void> {
    const objects = this.#waiting;
    [this.#waiting, this.#bytes] = [[], 0];
    if (objects.length < PACKED_FROM) return putAll(this.#objects, objects);
    const entries = objects.map(({ id, type, content }) => packEntry(id, type, content));
    writePack(this.#dir, this.#objects, entries, { isForGood: true });
  }
}

const MOST_WAITING_BYTES = 32 * 1024 ** 2;

/** Objects that are packed have no folder. */
function syncIfThere(folder: string): void {
  if (existsSync(folder)) syncFolder(folder);
}
