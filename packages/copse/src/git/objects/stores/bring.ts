/**
 * Brings the objects of an agent's store into the repository.
 *
 *   list → leave out what the repository has → verify → blobs → trees, commits and tags, each after what it names → sync
 *
 * An object comes only after all objects that it names, so an object in the repository has all that it refers to, also after
 * a kill. The store stays unchanged until it is removed, so whatever a kill leaves is brought by the next call. Any number of
 * processes may do so at once, and while the agent works.
 */

import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';

import { defaultPolicy } from '../../../kernel/policy.ts';
import { hasCode } from '../../../kernel/system/error-code.ts';
import { syncFolder } from '../../../kernel/system/write-atomically.ts';
import { BeyondLimits } from '../../../kernel/unavailable.ts';
import type { UnbroughtObject } from '../../port.ts';
import { type TrustedDir, git } from '../../process.ts';
import { packEntry, writePack } from '../packs.ts';
import { type NewObject, PACKED_FROM, fileOf, putAll, unusedBeside } from '../put.ts';
import { namesIn } from './layout.ts';
import { inOrder } from './order.ts';
import { copyLarge, readVerified } from './verified.ts';

export const bringSteps = ['blobs', 'objects', 'synced'] as const;
export type BringStep = (typeof bringSteps)[number];

export interface Bringing {
  /** Not looked at again. New ones are added. */
  readonly known?: Set<string>;
  readonly onStep?: (step: BringStep) => void;
}

/** Returns what cannot be brought. While the agent works some of it may come later. */
export async function bring(
  dir: TrustedDir,
  folder: string,
  { known = new Set(), onStep = () => {} }: Bringing = {},
): Promise<readonly UnbroughtObject[]> {
  const objects = path.join(dir.commonDir, 'objects');
  const ids = listNew(folder).filter((id) => !known.has(id));
  const lacking = await lackingIn(dir, ids);
  const left: UnbroughtObject[] = [];
  const writer = new Writer(dir, objects);
  const named: NewObject[] = [];
  for (const [at, id] of [...lacking].entries()) {
    // Lets other work of this process go on.
    if (at % TURN === 0) await setImmediate();
    const file = fileOf(path.join(folder, 'new'), id);
    const found = readVerified(dir, file, id);
    if (found.kind === 'damaged') left.push({ id, why: found.why });
    else if (found.kind === 'large') {
      const why = await bringLarge(dir, file, id, objects);
      if (why !== null) left.push({ id, why });
    } else if (found.kind === 'object') {
      if (found.object.type === 'blob') await writer.add(found.object);
      else named.push(found.object);
    }
  }
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
  for (const id of done) known.add(id);
  return [...left, ...incomplete];
}

const TURN = 32;

/** Loose objects of the store. Links and other names are not followed. */
function listNew(folder: string): readonly string[] {
  const place = path.join(folder, 'new');
  const ids: string[] = [];
  for (const name of namesIn(place)) {
    if (!/^[0-9a-f]{2}$/.test(name)) continue;
    for (const rest of filesIn(path.join(place, name))) {
      if (/^(?:[0-9a-f]{38}|[0-9a-f]{62})$/.test(rest)) ids.push(name + rest);
      if (ids.length > defaultPolicy.git.broughtObjects)
        throw new BeyondLimits(
          `The object store ${folder} has more than ${defaultPolicy.git.broughtObjects} objects.`,
          `If an agent made them by mistake, remove them: rm -r ${place}`,
        );
    }
  }
  return ids;
}

/** Some may be deleted meanwhile. */
function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  }
}

/** Those that the repository does not have. Most new objects are not packed, so git is asked about few. */
async function lackingIn(dir: TrustedDir, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const objects = path.join(dir.commonDir, 'objects');
  const notLoose = ids.filter((id) => !existsSync(fileOf(objects, id)));
  if (notLoose.length === 0) return new Set();
  const input = notLoose.map((id) => `${id}\n`).join('');
  const said = (await git(dir, ['cat-file', '--batch-check=%(objectname)', '--buffer'], { input })).toString(
    'latin1',
  );
  return new Set(
    said
      .split('\n')
      .flatMap((line) => (line.endsWith(' missing') ? [line.slice(0, -' missing'.length)] : [])),
  );
}

async function bringLarge(
  dir: TrustedDir,
  file: string,
  id: string,
  objects: string,
): Promise<string | null> {
  const to = fileOf(objects, id);
  mkdirSync(path.dirname(to), { recursive: true });
  const from = unusedBeside(to);
  try {
    const why = await copyLarge(dir, file, id, from);
    if (why === null) renameSync(from, to);
    return why;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ELOOP', 'ENXIO', 'EACCES')) return 'it cannot be read';
    throw error;
  }
}

/** Writes objects in the order in which they are added: a few as files, many as a pack. */
class Writer {
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
