/**
 * Merges simple changes without git: it takes the other side's tree, puts in the paths that this side changed, and writes the
 * folders above them.
 *
 * Only where git could come to no other result:
 *
 *   the side does not both add and delete files, so it cannot contain a rename
 *   a deleted path is unchanged on the other side; an added path does not exist there
 *   a changed path is a file with one mode on all sides, so that only its content is merged (mergeFile)
 *   a folder that gains a file still exists, so the other side cannot have renamed it
 *   the folders to write are in the form that git writes today
 *
 * Git merges everything else, and branches with merges.
 */

import type { CommitId } from '../../kernel/ids.ts';
import type { Merged } from '../../git/long-lived.ts';
import {
  type Objects,
  type Quarantine,
  TreeView,
  diffTrees,
  idBytesOf,
  isSameEntry,
  pairs,
  type Entry,
  FOLDER,
  Folder,
  encodeEntry,
  entryAt,
} from '../../git/objects.ts';
import type { RecentCache } from '../../kernel/recent-cache.ts';

export interface Splicer {
  readonly objects: Objects;
  readonly quarantine: Quarantine;
  /** Trees known to be in the form that git writes. */
  readonly asWritten: RecentCache<string, true>;
  /** Undefined when it conflicts. */
  readonly mergeFile: (versions: FileVersions) => Promise<string | undefined>;
}

/** Three versions of one file. */
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
  /** The side whose changes since the base are put in. */
  readonly side: string;
  readonly onto: string;
}

/** The merged tree, or undefined when only git can decide. */
export async function splice(splicer: Splicer, { base, side, onto }: Splice): Promise<string | undefined> {
  if (base === onto) return side;
  if (base === side || side === onto) return onto;
  const changes = await diffTrees(splicer.objects, base, side);
  const isAdding = changes.some(({ before }) => before === undefined);
  if (isAdding && changes.some(({ after }) => after === undefined)) return undefined;
  const spliced = await spliceFolder(splicer, '', { base, side, onto });
  return spliced === UNSURE ? undefined : spliced;
}

const UNSURE = Symbol('only git can decide');
type Unsure = typeof UNSURE;

interface FolderVersions {
  readonly base: string | undefined;
  readonly side: string | undefined;
  readonly onto: string;
}

/** Undefined stands for an absent folder. Below the top, a folder's name ends in a slash. */
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

/** Bytes of a folder to replace. */
interface Edit {
  readonly from: number;
  readonly to: number;
  readonly put: Buffer;
}

/** The edits are in the order of names, and so of positions. */
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

/** The new entry of a file; undefined when the file is deleted. */
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

/** The new entry of a folder; undefined when the folder is deleted. */
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

export interface FileMerger {
  readonly objects: Objects;
  readonly quarantine: Quarantine;
  readonly writeTemporary: (tree: string, parents: readonly CommitId[]) => CommitId;
  /** Git can read both commits. */
  readonly merge: (ours: CommitId, theirs: CommitId) => Promise<Merged>;
}

/**
 * Merges the contents of one file with git: of commits that hold this file alone, at its own path, so that attributes apply
 * to it. Undefined when it conflicts.
 */
export async function mergeFile(
  { objects, quarantine, writeTemporary, merge }: FileMerger,
  { path, mode, base, ours, theirs }: FileVersions,
): Promise<string | undefined> {
  const fresh = [base, ours, theirs];
  const commitOf = (id: string, parents: readonly CommitId[]): CommitId => {
    const trees = foldersTo(quarantine, path, { mode, id });
    const commit = writeTemporary(trees.at(-1) ?? '', parents);
    fresh.push(...trees, commit);
    return commit;
  };
  const before = commitOf(base, []);
  const [one, other] = [commitOf(ours, [before]), commitOf(theirs, [before])];
  quarantine.flush(fresh);
  const merged = await merge(one, other);
  if (merged.kind !== 'clean') return undefined;
  const entry = await new TreeView(objects, merged.tree).find(path);
  return entry?.mode === mode ? entry.id : undefined;
}

/** Writes the folders around the file, the innermost first. */
function foldersTo(quarantine: Quarantine, path: string, file: Entry): readonly string[] {
  const trees: string[] = [];
  let entry = file;
  for (const name of path.split('/').toReversed()) {
    const id = quarantine.write('tree', encodeEntry(name, entry));
    trees.push(id);
    entry = { mode: FOLDER, id };
  }
  return trees;
}
