/** Trees compared, path by path. Paths are Latin-1 strings, one character per byte. */

import { git, type TrustedDir } from '../../../git/process.ts';

/** Mode and id; undefined where there is no file. */
export type TreeEntry = string | undefined;

interface SavedChange {
  readonly from: TreeEntry;
  readonly to: TreeEntry;
}

export type TreeChanges = ReadonlyMap<string, SavedChange>;

export async function diffTrees(dir: TrustedDir, from: string, to: string): Promise<TreeChanges> {
  const changes = new Map<string, SavedChange>();
  if (from === to) return changes;
  const argv = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', from, to];
  const fields = (await git(dir, argv)).toString('latin1').split('\0');
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [before = '', after = '', oldId = '', newId = ''] = (fields[at] ?? '').slice(1).split(' ');
    changes.set(fields[at + 1] ?? '', { from: entry(before, oldId), to: entry(after, newId) });
  }
  return changes;
}

/** The entry of a path in the second tree; `before` is its entry in the first. */
export function entryAfter(changes: TreeChanges, file: string, before: TreeEntry): TreeEntry {
  const change = changes.get(file);
  return change === undefined ? before : change.to;
}

function entry(mode: string, id: string): TreeEntry {
  return mode === '000000' ? undefined : `${mode} ${id}`;
}

/** A line for `update-index --index-info`. */
export function indexLine(dir: TrustedDir, file: string, entry: TreeEntry): string {
  const nothing = `0 ${'0'.repeat(dir.objectFormat === 'sha256' ? 64 : 40)}`;
  return `${entry ?? nothing}\t${file}`;
}
