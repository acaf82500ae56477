/** Paths that differ between two commits. A rename counts as a deleted and an added path. */

import type { CommitId } from '../../kernel/ids.ts';
import { type Touched, foldersOf } from '../rules/radar.ts';
import type { Radar } from '../port.ts';
import { utf8 } from '../../git/output.ts';
import { type Objects, knownObjectsOf, TreeView, diffTrees, requireBounded } from '../../git/objects.ts';
import type { TrustedDir } from '../../git/process.ts';

export function openTouched(dir: TrustedDir): Radar['touched'] {
  const objects = knownObjectsOf(dir);
  return (from, to, most) => touchedBetween(objects, from, to, most);
}

async function touchedBetween(
  objects: Objects,
  from: CommitId,
  to: CommitId,
  most: number,
): Promise<Touched> {
  const [before, after] = await Promise.all([objects.commit(from), objects.commit(to)]);
  await requireBounded(objects, before.tree, after.tree, `The commit ${to}`);
  const changes = await diffTrees(objects, before.tree, after.tree);
  if (changes.length > most) return { paths: [], emptied: [], isWide: true };
  const deleted = changes.filter((change) => change.after === undefined).map(({ path }) => path);
  return {
    paths: [...new Set(changes.map(({ path }) => utf8(path)))].toSorted(),
    emptied: await emptiedBy(new TreeView(objects, after.tree), deleted),
    isWide: false,
  };
}

const FOLDER = '40000';

async function emptiedBy(view: TreeView, deleted: readonly string[]): Promise<readonly string[]> {
  const folders = [...new Set(deleted.flatMap(foldersOf))];
  const found = await Promise.all(folders.map((folder) => view.find(folder)));
  return folders
    .filter((_, at) => found[at]?.mode !== FOLDER)
    .map(utf8)
    .toSorted();
}
