/**
 * What differs between two trees, without starting git. A tree is one entry after another, in the order of their names,
 * where a folder counts as if its name ended in a slash; so a file and a folder of one name are two entries, of which one
 * goes and the other comes, as `git diff-tree --no-renames` says it.
 */

import { defaultPolicy } from '../../kernel/policy.ts';
import { BeyondLimits } from '../../kernel/unavailable.ts';
import type { Objects } from './objects.ts';
import { type Entry, FOLDER, Folder, type NamedEntry, entryAt } from './tree-folder.ts';

export interface TreeChange {
  /** One character per byte. */
  readonly path: string;
  readonly before: Entry | undefined;
  readonly after: Entry | undefined;
}

export function isSameEntry(one: Entry | undefined, other: Entry | undefined): boolean {
  return one?.id === other?.id && one?.mode === other?.mode;
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
  let folders: readonly FolderPair[] = one === other ? [] : [{ path: '', one, other }];
  for (let depth = 0; folders.length > 0; depth += 1) {
    if (depth > folderDepth) throw tooLarge('A branch', `has folders nested more than ${folderDepth} deep`);
    folders = (await Promise.all(folders.map((folder) => compare(objects, folder, found)))).flat();
  }
  return found.changes;
}

/** What all folders together have. */
interface Found {
  readonly changes: TreeChange[];
  folders: number;
}

export function tooLarge(what: string, why: string): BeyondLimits {
  return new BeyondLimits(
    `${what} ${why}, which is more than Copse reads.`,
    'If that is meant, merge it yourself: git merge',
  );
}

interface FolderPair {
  /** With a slash at its end, unless it is the root. */
  readonly path: string;
  readonly one: string | undefined;
  readonly other: string | undefined;
}

const { changedPaths, folderDepth } = defaultPolicy.git;

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

export function folderIn(entry: Entry | undefined): string | undefined {
  return entry?.mode === FOLDER ? entry.id : undefined;
}

interface Pair {
  readonly name: string;
  readonly old: Entry | undefined;
  readonly now: Entry | undefined;
}

/** Entries of one name that are not the same. A folder is only ever beside a folder. */
export function* pairs(before: Buffer, after: Buffer, idBytes: number): Generator<Pair> {
  let [left, right] = [0, 0];
  while (left < before.length || right < after.length) {
    const same = sameLength(before, left, after, right, idBytes);
    if (same > 0) {
      [left, right] = [left + same, right + same];
      continue;
    }
    const [old, now] = [entryAt(before, left, idBytes), entryAt(after, right, idBytes)];
    const order = old === undefined ? 1 : now === undefined ? -1 : compareNames(old, now);
    if (order <= 0 && old !== undefined) left = old.end;
    if (order >= 0 && now !== undefined) right = now.end;
    const pair = { name: (order <= 0 ? old : now)?.name ?? '', old: undefined, now: undefined };
    if (order < 0) yield { ...pair, old };
    else if (order > 0) yield { ...pair, now };
    else if (!isSameEntry(old, now)) yield { ...pair, old, now };
  }
}

/** How long the entry is at which both are, byte for byte; 0 when they are not. Most are, so no text is made of them. */
function sameLength(before: Buffer, left: number, after: Buffer, right: number, idBytes: number): number {
  const most = Math.min(before.length - left, after.length - right);
  // Byte by byte: to call anything for each entry takes longer than to look at all of it.
  let at = 0;
  while (at < most && before[left + at] !== 0 && before[left + at] === after[right + at]) at += 1;
  const end = at + 1 + idBytes;
  if (end > most) return 0;
  while (at < end && before[left + at] === after[right + at]) at += 1;
  return at === end ? end : 0;
}

export function idBytesOf({ dir }: Objects): number {
  return dir.objectFormat === 'sha256' ? 32 : 20;
}

function compareNames(one: NamedEntry, other: NamedEntry): number {
  const [left, right] = [sortName(one), sortName(other)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function sortName({ name, mode }: NamedEntry): string {
  return mode === FOLDER ? `${name}/` : name;
}

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
