/**
 * Merges the contents of one file, by the git that merges everything else: of commits that have nothing but this file, where it
 * is, so that what attributes say about it counts. What git makes of three contents is remembered: a branch as a whole and the
 * commit of it that changed the file ask the same.
 */

import type { CommitId } from '../../kernel/ids.ts';
import type { Merged } from '../../git/long-lived.ts';
import type { FileVersions } from './splice.ts';
import type { Objects } from '../../git/objects/objects.ts';
import type { Quarantine } from '../../git/objects/quarantine.ts';
import { TreeView } from '../../git/objects/tree-diff.ts';
import { type Entry, FOLDER, encodeEntry } from '../../git/objects/tree-folder.ts';

export interface FileBench {
  readonly objects: Objects;
  readonly quarantine: Quarantine;
  readonly stand: (tree: string, parents: readonly CommitId[]) => CommitId;
  /** Both commits can be seen by a git. */
  readonly merge: (ours: CommitId, theirs: CommitId) => Promise<Merged>;
}

/** Undefined when it conflicts. */
export async function mergeFile(
  { objects, quarantine, stand, merge }: FileBench,
  { path, mode, base, ours, theirs }: FileVersions,
): Promise<string | undefined> {
  const fresh = [base, ours, theirs];
  const commitOf = (id: string, parents: readonly CommitId[]): CommitId => {
    const trees = foldersTo(quarantine, path, { mode, id });
    const commit = stand(trees.at(-1) ?? '', parents);
    fresh.push(...trees, commit);
    return commit;
  };
  const before = commitOf(base, []);
  const [one, other] = [commitOf(ours, [before]), commitOf(theirs, [before])];
  quarantine.flush(fresh);
  const merged = await merge(one, other);
  if (!merged.clean) return undefined;
  const entry = await new TreeView(objects, merged.tree).find(path);
  return entry?.mode === mode ? entry.id : undefined;
}

/** From the innermost to the top. */
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
