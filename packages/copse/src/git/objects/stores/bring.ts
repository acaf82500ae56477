/**
 * Brings the objects of an agent's store into the repository.
 *
 *   list → leave out what the repository has → verify → blobs → trees, commits and tags, each after what it names → sync
 *
 * An object comes only after all objects that it names, so an object in the repository has all that it refers to, also after
 * a kill. The store stays unchanged until it is removed, so whatever a kill leaves is brought by the next call. Any number of
 * processes may do so at once, and while the agent works.
 */

import { existsSync } from 'node:fs';
import path from 'node:path';

import { defaultPolicy } from '../../../kernel/policy.ts';
import { syncFolder } from '../../../kernel/system/write-atomically.ts';
import type { UnbroughtObject } from '../../port.ts';
import type { TrustedDir } from '../../process.ts';
import { lackingIn, unsoundIn } from './lacking.ts';
import { type FolderTimes, listNew } from './list.ts';
import { inOrder } from './order.ts';
import { type SeenFiles, StoreFiles } from './store-files.ts';
import { ObjectWriter } from './writer.ts';

export const bringSteps = ['blobs', 'objects', 'synced'] as const;
type BringStep = (typeof bringSteps)[number];

/** What a process has seen of a store. */
export interface SeenObjects extends SeenFiles {
  /** In the repository, so not looked at again. */
  readonly known: Set<string>;
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
  /** The caller removes the store afterwards, so objects that the repository has are verified too. */
  readonly isLast?: boolean;
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
  const all = [...new Set([...listed, ...(seen?.left ?? [])])].filter((id) => !seen?.known.has(id));
  const files = new StoreFiles(dir, folder, options);
  const ids = all.filter((id) => !files.hasFailedBefore(id));
  const lacking = await (options.isLast === true ? unsoundIn(dir, ids) : lackingIn(dir, ids));
  const incomplete = await bringInParts(dir, files, { lacking: [...lacking], objects, onStep });
  const left = [...files.left.values(), ...incomplete];
  const isLeft = new Set(left.map(({ id }) => id));
  // One that the agent deleted meanwhile may be written again.
  const done = ids.filter((id) => !isLeft.has(id) && !files.gone.has(id));
  // Also those that an earlier call wrote: the caller may remove the only other copy.
  for (const name of new Set(done.map((id) => id.slice(0, 2)))) syncIfThere(path.join(objects, name));
  onStep('synced');
  if (seen !== undefined) remember(seen, done, isLeft, times);
  return left;
}

const MOST_ROUNDS = defaultPolicy.objectStores.rounds;

/**
 * Trees and commits are held in memory while they are put in order, so only a part of a large store is. One that names an
 * object of a later part comes in the next round. Returns those that name an object which does not come.
 */
async function bringInParts(
  dir: TrustedDir,
  files: StoreFiles,
  {
    lacking,
    objects,
    onStep,
  }: {
    readonly lacking: readonly string[];
    readonly objects: string;
    readonly onStep: (step: BringStep) => void;
  },
): Promise<readonly UnbroughtObject[]> {
  const writer = new ObjectWriter(dir, objects);
  let waiting = lacking;
  for (let round = 1; ; round += 1) {
    const incomplete: UnbroughtObject[] = [];
    let [parts, brought] = [0, 0];
    for (let at = 0; at < waiting.length || parts === 0; parts += 1) {
      const { named, end } = await files.readPart(waiting, at, (blob) => writer.add(blob));
      at = end;
      await writer.flush();
      onStep('blobs');
      const part = await inOrder(dir, named, (ids) => lackingIn(dir, ids));
      for (const object of part.ordered) await writer.add(object);
      await writer.flush();
      onStep('objects');
      brought += part.ordered.length;
      for (const one of part.incomplete) incomplete.push(one);
    }
    if (incomplete.length === 0 || parts === 1 || brought === 0) return incomplete;
    if (round === MOST_ROUNDS) return incomplete.map((one) => ({ ...one, isBeyondLimits: true }));
    waiting = incomplete.map(({ id }) => id);
  }
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

/** Objects that are packed have no folder. */
function syncIfThere(folder: string): void {
  if (existsSync(folder)) syncFolder(folder);
}
