/**
 * What differs between two trees, without starting git. A tree is one entry after another, in the order of their names,
 * where a folder counts as if its name ended in a slash; so a file and a folder of one name are two entries, of which one
 * goes and the other comes, as `git diff-tree --no-renames` says it.
 */

import { defaultPolicy } from '../../kernel/policy.ts';
import { requireBounded } from './bounds.ts';
import type { Objects } from './objects.ts';
import { type Entry, Folder } from './tree-folder.ts';
import { folderIn, idBytesOf, pairs, tooLarge } from './tree-pairs.ts';

export interface TreeChange {
  /** One character per byte. */
  readonly path: string;
  readonly before: Entry | undefined;
  readonly after: Entry | undefined;
}

/**
 * In no order that matters. Undefined stands for a tree with nothing in it. Throws when more paths differ than the policy
 * allows.
 */
export async function diffTrees(
  objects: Objects,
  one: string | undefined,
  other: string | undefined,
): Promise<readonly TreeChange[]> {
  const found: Found = { changes: [], folders: 0 };
  let isCounted = false;
  let folders: readonly FolderPair[] = one === other ? [] : [{ path: '', one, other }];
  for (let depth = 0; folders.length > 0; depth += 1) {
    if (depth > folderDepth) throw tooLarge('A branch', `has folders nested more than ${folderDepth} deep`);
    // To walk too many paths takes seconds, to count them does not.
    if (!isCounted && found.folders + found.changes.length > COUNTED_FROM) {
      await requireBounded(objects, one, other, 'A branch');
      isCounted = true;
    }
    folders = (await Promise.all(folders.map((folder) => compare(objects, folder, found)))).flat();
  }
  return found.changes;
}

/** What all folders together have. */
interface Found {
  readonly changes: TreeChange[];
  folders: number;
}

interface FolderPair {
  /** With a slash at its end, unless it is the root. */
  readonly path: string;
  readonly one: string | undefined;
  readonly other: string | undefined;
}

const { changedPaths, folderDepth } = defaultPolicy.git;
const COUNTED_FROM = 2_000;

/** The folders in it that differ. */
async function compare(
  objects: Objects,
  { path: folder, one, other }: FolderPair,
  found: Found,
): Promise<readonly FolderPair[]> {
  const [before, after] = await Promise.all([
    one === undefined ? NOTHING : objects.tree(one),
    other === undefined ? NOTHING : objects.tree(other),
  ]);
  const deeper: FolderPair[] = [];
  for (const { name, old, now } of pairs(before, after, idBytesOf(objects))) {
    const path = `${folder}${name}`;
    const [from, to] = [folderIn(old), folderIn(now)];
    if (from !== undefined || to !== undefined) deeper.push({ path: `${path}/`, one: from, other: to });
    else found.changes.push({ path, before: old, after: now });
    if (found.folders + deeper.length + found.changes.length > changedPaths)
      throw tooLarge('A branch', `changes more than ${changedPaths} paths`);
  }
  found.folders += deeper.length;
  return deeper;
}

const NOTHING = Buffer.alloc(0);

/** Finds what is at a path, and remembers every folder on the way for the next one. */
export class TreeView {
  readonly #objects: Objects;
  readonly #root: string;
  readonly #folders = new Map<string, Promise<Folder | undefined>>();

  constructor(objects: Objects, root: string) {
    this.#objects = objects;
    this.#root = root;
  }

  /** Also of a folder; the path has one character per byte. */
  async find(path: string): Promise<Entry | undefined> {
    const slash = path.lastIndexOf('/');
    const folder = await this.#folder(slash === -1 ? '' : path.slice(0, slash));
    return folder?.find(path.slice(slash + 1));
  }

  /** Of all entries of a folder; one character per byte. */
  async names(path: string): Promise<readonly string[]> {
    return (await this.#folder(path))?.names() ?? [];
  }

  /** As it is written in the tree, also one that git reads as another. */
  async rawMode(path: string): Promise<string | undefined> {
    const slash = path.lastIndexOf('/');
    const folder = await this.#folder(slash === -1 ? '' : path.slice(0, slash));
    return folder?.rawMode(path.slice(slash + 1));
  }

  #folder(path: string): Promise<Folder | undefined> {
    const known = this.#folders.get(path) ?? this.#readFolder(path);
    this.#folders.set(path, known);
    return known;
  }

  async #readFolder(path: string): Promise<Folder | undefined> {
    const id = path === '' ? this.#root : folderIn(await this.find(path));
    return id === undefined ? undefined : new Folder(await this.#objects.tree(id), idBytesOf(this.#objects));
  }
}
