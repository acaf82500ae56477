/**
 * Merges that take no merging: every path that one side changed, the other has as it was. Then the result is the other side
 * with those paths put in, and the folders on the way are all that has to be written.
 *
 * Only where git could come to nothing else:
 *
 *   nothing was both added and deleted, so nothing can have been renamed by the side that is put in
 *   what was changed or deleted is untouched on the other side; where something was added, there is nothing
 *   a folder to which something was added is still there, so the other side cannot have renamed it
 *   all modes in the folders that are written are such as git writes today
 *
 * Everything else is left to git, and so are branches with merges.
 */

import type { Objects } from './objects.ts';
import type { Quarantine } from './quarantine.ts';
import {
  type Entry,
  type NamedEntry,
  diffTrees,
  entryAt,
  idBytesOf,
  isSameEntry,
  pairs,
} from './tree-diff.ts';

export interface Splicer {
  readonly objects: Objects;
  readonly quarantine: Quarantine;
}

export interface Splice {
  readonly base: string;
  /** What changed since then, to be put in. */
  readonly side: string;
  readonly onto: string;
}

/** The merged tree, or undefined when git has to say. */
export async function splice(splicer: Splicer, { base, side, onto }: Splice): Promise<string | undefined> {
  if (base === onto) return side;
  if (base === side || side === onto) return onto;
  const changes = await diffTrees(splicer.objects, base, side);
  const isAdding = changes.some(({ before }) => before === undefined);
  if (isAdding && changes.some(({ after }) => after === undefined)) return undefined;
  const spliced = await spliceFolder(splicer, base, side, onto);
  return spliced === UNSURE ? undefined : spliced;
}

const UNSURE = Symbol('git has to say');
type Unsure = typeof UNSURE;
/** By how entries are ordered: a folder ends in a slash. */
type Parts = Map<string, Buffer>;

/** Undefined stands for a folder that is not there. */
async function spliceFolder(
  splicer: Splicer,
  base: string | undefined,
  side: string | undefined,
  onto: string,
): Promise<string | undefined | Unsure> {
  if (base === onto) return side;
  const { objects, quarantine } = splicer;
  const [before, after, now] = await Promise.all([base, side, onto].map((tree) => contentOf(objects, tree)));
  const parts = partsOf(now ?? NOTHING, idBytesOf(objects));
  if (parts === undefined) return UNSURE;
  for (const { name, old, now: wanted } of pairs(before ?? NOTHING, after ?? NOTHING, idBytesOf(objects))) {
    const isFolder = (old ?? wanted)?.mode === FOLDER;
    const put = await (isFolder
      ? spliceEntry(splicer, parts.get(`${name}/`), old, wanted)
      : replaceEntry(splicer, parts.get(name), old, wanted));
    const inTheWay = parts.has(isFolder ? name : `${name}/`);
    if (put === UNSURE || (put !== undefined && inTheWay)) return UNSURE;
    const key = isFolder ? `${name}/` : name;
    if (put === undefined) parts.delete(key);
    else parts.set(key, encode(name, put));
  }
  if (parts.size === 0) return undefined;
  const ordered = [...parts].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const content = Buffer.concat(ordered.map(([, part]) => part));
  const id = quarantine.write('tree', content);
  objects.rememberTree(id, content);
  return id;
}

const FOLDER = '40000';
const NOTHING = Buffer.alloc(0);

function contentOf(objects: Objects, tree: string | undefined): Promise<Buffer> {
  return tree === undefined ? Promise.resolve(NOTHING) : objects.tree(tree);
}

/** What becomes of a file; undefined when it goes. */
function replaceEntry(
  { objects }: Splicer,
  part: Buffer | undefined,
  old: Entry | undefined,
  wanted: Entry | undefined,
): Entry | undefined | Unsure {
  const there = part && entryAt(part, 0, idBytesOf(objects));
  return isSameEntry(there, old) ? wanted : UNSURE;
}

/** What becomes of a folder. */
async function spliceEntry(
  splicer: Splicer,
  part: Buffer | undefined,
  old: Entry | undefined,
  wanted: Entry | undefined,
): Promise<Entry | undefined | Unsure> {
  const there = part && entryAt(part, 0, idBytesOf(splicer.objects));
  if (there === undefined) return old === undefined ? wanted : UNSURE;
  const id = await spliceFolder(splicer, old?.id, wanted?.id, there.id);
  return id === UNSURE || id === undefined ? id : { mode: FOLDER, id };
}

/** Undefined when something in it is written as no git does it today, or stands there twice. */
function partsOf(tree: Buffer, idBytes: number): Parts | undefined {
  const parts: Parts = new Map();
  for (let at = 0; at < tree.length;) {
    const entry = entryAt(tree, at, idBytes);
    if (entry === undefined) break;
    const part = tree.subarray(at, entry.end);
    const key = entry.mode === FOLDER ? `${entry.name}/` : entry.name;
    if (!isAsWritten(part, entry) || parts.has(key)) return undefined;
    parts.set(key, part);
    at = entry.end;
  }
  return parts;
}

function isAsWritten(part: Buffer, { mode }: NamedEntry): boolean {
  return part.toString('latin1', 0, mode.length + 1) === `${mode} `;
}

function encode(name: string, { mode, id }: Entry): Buffer {
  return Buffer.concat([Buffer.from(`${mode} ${name}\0`, 'latin1'), Buffer.from(id, 'hex')]);
}
