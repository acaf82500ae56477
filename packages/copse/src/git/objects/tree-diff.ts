/**
 * Compares two trees without starting git. Entries are sorted by name, a folder as if its name ended in a slash. So a file
 * and a folder of one name are two entries: one deleted and one added, as in `git diff-tree --no-renames`.
 */

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

/** The order is not defined. Undefined stands for an empty tree. */
export async function diffTrees(
  objects: Objects,
  one: string | undefined,
  other: string | undefined,
): Promise<readonly TreeChange[]> {
  const changes: TreeChange[] = [];
  await compare(objects, '', one, other, changes);
  return changes;
}

async function compare(
  objects: Objects,
  folder: string,
  one: string | undefined,
  other: string | undefined,
  changes: TreeChange[],
): Promise<void> {
  if (one === other) return;
  const [before, after] = await Promise.all([
    one === undefined ? NOTHING : objects.tree(one),
    other === undefined ? NOTHING : objects.tree(other),
  ]);
  const deeper: Promise<void>[] = [];
  for (const { name, old, now } of pairs(before, after, idBytesOf(objects))) {
    const path = `${folder}${name}`;
    const [from, to] = [folderIn(old), folderIn(now)];
    if (from !== undefined || to !== undefined) deeper.push(compare(objects, `${path}/`, from, to, changes));
    else changes.push({ path, before: old, after: now });
  }
  await Promise.all(deeper);
}

const NOTHING = Buffer.alloc(0);

function folderIn(entry: Entry | undefined): string | undefined {
  return entry?.mode === FOLDER ? entry.id : undefined;
}

interface EntryPair {
  readonly name: string;
  readonly old: Entry | undefined;
  readonly now: Entry | undefined;
}

/** Entries of one name that differ. A folder is paired with folders only. */
export function* pairs(before: Buffer, after: Buffer, idBytes: number): Generator<EntryPair> {
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

/** The length of the entry if both trees have the same one here, else 0. Most are equal, so no strings are made. */
function sameLength(before: Buffer, left: number, after: Buffer, right: number, idBytes: number): number {
  const most = Math.min(before.length - left, after.length - right);
  // A loop over bytes: one function call per entry takes longer.
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

/** Finds entries by path, and caches every folder on the way. */
export class TreeView {
  readonly #objects: Objects;
  readonly #root: string;
  readonly #folders = new Map<string, Promise<Folder | undefined>>();

  constructor(objects: Objects, root: string) {
    this.#objects = objects;
    this.#root = root;
  }

  /** The path has one character per byte and may be that of a folder. */
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
