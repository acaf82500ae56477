/**
 * One folder of a tree, as git stores it: mode, name and id of each entry, sorted by name, a folder as if its name ended in
 * a slash. Most entries are only skipped, so no strings are made of them.
 */

/** A file, a link, a folder, or the commit of a submodule. */
export interface Entry {
  readonly mode: string;
  readonly id: string;
}

export interface NamedEntry extends Entry {
  /** One character per byte. */
  readonly name: string;
  readonly end: number;
}

export const FOLDER = '40000';

/** Undefined at the end of the tree. */
export function entryAt(tree: Buffer, at: number, idBytes: number): NamedEntry | undefined {
  if (at >= tree.length) return undefined;
  const space = spaceAfter(tree, at);
  const nul = nulAfter(tree, space);
  const end = nul + 1 + idBytes;
  if (end > tree.length) throw new Error(DAMAGED);
  return {
    mode: canonical(tree.toString('latin1', at, space)),
    name: tree.toString('latin1', space + 1, nul),
    id: tree.toString('hex', nul + 1, end),
    end,
  };
}

export function encodeEntry(name: string, { mode, id }: Entry): Buffer {
  return Buffer.concat([Buffer.from(`${mode} ${name}\0`, 'latin1'), Buffer.from(id, 'hex')]);
}

const DAMAGED = 'A tree of the repository is damaged.';
const [SPACE, NUL, SLASH, FOUR] = [0x20, 0, 0x2f, 0x34] as const;

function spaceAfter(tree: Buffer, at: number): number {
  let space = at;
  while (space < tree.length && tree[space] !== SPACE) space += 1;
  return space;
}

function nulAfter(tree: Buffer, at: number): number {
  let nul = at;
  while (nul < tree.length && tree[nul] !== NUL) nul += 1;
  return nul;
}

/** Old versions of git wrote other modes for files; git reads them as these. */
function canonical(mode: string): string {
  const bits = Number.parseInt(mode, 8);
  switch (bits & 0o170000) {
    case 0o040000:
      return FOLDER;
    case 0o100000:
      return bits & 0o100 ? '100755' : '100644';
    case 0o120000:
      return '120000';
    default:
      return '160000';
  }
}

/** After so many searches an index is built. */
const LOOKED_THROUGH = 8;

export class Folder {
  readonly tree: Buffer;
  readonly #idBytes: number;
  #looks = 0;
  #index: ReadonlyMap<string, number> | undefined;

  constructor(tree: Buffer, idBytes: number) {
    this.tree = tree;
    this.#idBytes = idBytes;
  }

  find(name: string): NamedEntry | undefined {
    const at = this.positionOf(name);
    return at === undefined ? undefined : entryAt(this.tree, at, this.#idBytes);
  }

  /** The offset at which an entry of this name belongs. */
  placeFor(name: string, isFolder: boolean): number {
    const wanted = Buffer.from(isFolder ? `${name}/` : name, 'latin1');
    const { tree } = this;
    let at = 0;
    while (at < tree.length) {
      const space = spaceAfter(tree, at);
      const nul = nulAfter(tree, space);
      if (compareWith(tree, space + 1, nul, tree[at] === FOUR, wanted) > 0) return at;
      at = nul + 1 + this.#idBytes;
    }
    return tree.length;
  }

  /** Whether entries are sorted and unique, with modes that git writes today. */
  isAsWritten(): boolean {
    const { tree } = this;
    let before: { readonly from: number; readonly to: number; readonly isFolder: boolean } | undefined;
    for (let at = 0; at < tree.length;) {
      const space = spaceAfter(tree, at);
      const nul = nulAfter(tree, space);
      const isFolder = tree[at] === FOUR;
      if (!MODES.has(tree.toString('latin1', at, space))) return false;
      if (before !== undefined) {
        const name = Buffer.concat([tree.subarray(space + 1, nul), isFolder ? SLASHED : NOTHING]);
        if (compareWith(tree, before.from, before.to, before.isFolder, name) >= 0) return false;
      }
      before = { from: space + 1, to: nul, isFolder };
      at = nul + 1 + this.#idBytes;
      if (at > tree.length) return false;
    }
    return true;
  }

  /** The offset of the entry of this name. `isFolder` limits the search to folders or to other entries. */
  positionOf(name: string, isFolder?: boolean): number | undefined {
    this.#looks += 1;
    if (this.#looks > LOOKED_THROUGH) this.#index ??= this.#indexed();
    if (this.#index !== undefined) {
      const [file, folder] = [this.#index.get(name), this.#index.get(`${name}/`)];
      return isFolder === undefined ? (file ?? folder) : isFolder ? folder : file;
    }
    const { tree } = this;
    const wanted = Buffer.from(name, 'latin1');
    for (let at = 0; at < tree.length;) {
      const space = spaceAfter(tree, at);
      const nul = nulAfter(tree, space);
      const isKind = isFolder === undefined || isFolder === (tree[at] === FOUR);
      if (isKind && nul - space - 1 === wanted.length && isAt(tree, space + 1, wanted)) return at;
      at = nul + 1 + this.#idBytes;
    }
    return undefined;
  }

  #indexed(): ReadonlyMap<string, number> {
    const index = new Map<string, number>();
    const { tree } = this;
    for (let at = 0; at < tree.length;) {
      const space = spaceAfter(tree, at);
      const nul = nulAfter(tree, space);
      const name = tree.toString('latin1', space + 1, nul);
      index.set(tree[at] === FOUR ? `${name}/` : name, at);
      at = nul + 1 + this.#idBytes;
    }
    return index;
  }
}

const MODES = new Set(['100644', '100755', '120000', '160000', FOLDER]);
const SLASHED = Buffer.from([SLASH]);
const NOTHING = Buffer.alloc(0);

function isAt(tree: Buffer, at: number, wanted: Buffer): boolean {
  for (let byte = 0; byte < wanted.length; byte += 1) if (tree[at + byte] !== wanted[byte]) return false;
  return true;
}

/** Compares the name of an entry, with a slash if it is a folder, with another name. */
function compareWith(tree: Buffer, from: number, to: number, isFolder: boolean, wanted: Buffer): number {
  const length = to - from + (isFolder ? 1 : 0);
  for (let byte = 0; byte < length && byte < wanted.length; byte += 1) {
    const own = from + byte < to ? (tree[from + byte] ?? 0) : SLASH;
    const other = wanted[byte] ?? 0;
    if (own !== other) return own - other;
  }
  return length - wanted.length;
}
