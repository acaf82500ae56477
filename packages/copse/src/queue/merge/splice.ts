/**
 * Merges that take hardly any merging: every path that one side changed, the other has as it was, or changed as well. Then the
 * result is the other side with those paths put in, and the folders on the way are all that has to be written.
 *
 * Only where git could come to nothing else:
 *
 *   nothing was both added and deleted, so nothing can have been renamed by the side that is put in
 *   what was deleted is untouched on the other side; where something was added, there is nothing
 *   what was changed is a file on all sides, in the same place: nothing but its contents is to be merged (merging-file.ts)
 *   a folder to which something was added is still there, so the other side cannot have renamed it
 *   the folders that are written are as git writes them today
 *
 * Everything else is left to git, and so are branches with merges.
 */

import type { Objects } from '../../git/objects/objects.ts';
import type { Quarantine } from '../../git/objects/quarantine.ts';
import type { RecentCache } from '../../kernel/recent-cache.ts';
import { diffTrees, idBytesOf, isSameEntry, pairs } from '../../git/objects/tree-diff.ts';
import { type Entry, FOLDER, Folder, encodeEntry, entryAt } from '../../git/objects/tree-folder.ts';

export interface Splicer {
  readonly objects: Objects;
  readonly quarantine: Quarantine;
  /** Trees that are known to be written as git does it. */
  readonly asWritten: RecentCache<string, true>;
  /** Undefined when it conflicts. */
  readonly mergeFile: (versions: FileVersions) => Promise<string | undefined>;
}

/** Three contents of one file. */
export interface FileVersions {
  /** One character per byte. */
  readonly path: string;
  readonly mode: string;
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
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
  const spliced = await spliceFolder(splicer, '', { base, side, onto });
  return spliced === UNSURE ? undefined : spliced;
}

const UNSURE = Symbol('git has to say');
type Unsure = typeof UNSURE;

interface FolderVersions {
  readonly base: string | undefined;
  readonly side: string | undefined;
  readonly onto: string;
}

/** Undefined stands for a folder that is not there. The name of one that is not the top ends in a slash. */
async function spliceFolder(
  splicer: Splicer,
  folder: string,
  { base, side, onto }: FolderVersions,
): Promise<string | undefined | Unsure> {
  if (base === onto) return side;
  const { objects, quarantine } = splicer;
  const [before, after, now] = await Promise.all([base, side, onto].map((tree) => contentOf(objects, tree)));
  const idBytes = idBytesOf(objects);
  const there = new Folder(now ?? NOTHING, idBytes);
  if (splicer.asWritten.get(onto) === undefined && !there.isAsWritten()) return UNSURE;
  const edits: Edit[] = [];
  let last = '';
  for (const { name, old, now: wanted } of pairs(before ?? NOTHING, after ?? NOTHING, idBytes)) {
    const isFolder = (old ?? wanted)?.mode === FOLDER;
    const order = isFolder ? `${name}/` : name;
    if (order <= last) return UNSURE;
    last = order;
    const at = there.positionOf(name, isFolder);
    const entry = at === undefined ? undefined : entryAt(there.tree, at, idBytes);
    const put = await (isFolder
      ? spliceEntry(splicer, `${folder}${name}/`, entry, old, wanted)
      : replaceEntry(splicer, `${folder}${name}`, entry, old, wanted));
    const isInTheWay = put !== undefined && there.positionOf(name, !isFolder) !== undefined;
    if (put === UNSURE || isInTheWay) return UNSURE;
    const from = at ?? there.placeFor(name, isFolder);
    edits.push({ from, to: entry?.end ?? from, put: put === undefined ? NOTHING : encodeEntry(name, put) });
  }
  const content = edited(there.tree, edits);
  if (content.length === 0) return undefined;
  const id = quarantine.write('tree', content);
  objects.rememberTree(id, content);
  splicer.asWritten.set(id, true);
  return id;
}

/** Bytes of a folder that become others. */
interface Edit {
  readonly from: number;
  readonly to: number;
  readonly put: Buffer;
}

/** They come in the order of names, so of places. */
function edited(tree: Buffer, edits: readonly Edit[]): Buffer {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const { from, to, put } of edits) {
    pieces.push(tree.subarray(at, from), put);
    at = to;
  }
  return Buffer.concat([...pieces, tree.subarray(at)]);
}

const NOTHING = Buffer.alloc(0);

function contentOf(objects: Objects, tree: string | undefined): Promise<Buffer> {
  return tree === undefined ? Promise.resolve(NOTHING) : objects.tree(tree);
}

/** What becomes of a file; undefined when it goes. */
async function replaceEntry(
  { mergeFile }: Splicer,
  path: string,
  there: Entry | undefined,
  old: Entry | undefined,
  wanted: Entry | undefined,
): Promise<Entry | undefined | Unsure> {
  if (isSameEntry(there, old)) return wanted;
  if (old === undefined || wanted === undefined || there === undefined) return UNSURE;
  if (isSameEntry(there, wanted)) return wanted;
  const { mode } = old;
  const isFile = mode.startsWith('100') && there.mode === mode && wanted.mode === mode;
  if (!isFile) return UNSURE;
  const id = await mergeFile({ path, mode, base: old.id, ours: there.id, theirs: wanted.id });
  return id === undefined ? UNSURE : { mode, id };
}

/** What becomes of a folder. */
async function spliceEntry(
  splicer: Splicer,
  folder: string,
  there: Entry | undefined,
  old: Entry | undefined,
  wanted: Entry | undefined,
): Promise<Entry | undefined | Unsure> {
  if (there === undefined) return old === undefined ? wanted : UNSURE;
  const id = await spliceFolder(splicer, folder, { base: old?.id, side: wanted?.id, onto: there.id });
  return id === UNSURE || id === undefined ? id : { mode: FOLDER, id };
}
