/**
 * Whether a candidate takes back what others landed. Two ways to do so are looked for:
 *
 *   a path differs from the target that no commit of the task changed and none of its merges had a conflict in
 *   a merge of the branch differs from what git makes of its parents, at a path without a conflict: `git merge -s ours`,
 *   or a resolution that drops the other side's part
 *
 * Only paths that would differ from the target count: what was put right afterwards does no harm.
 */

import type { CommitId } from '../../domain/ids.ts';
import type { Bench } from './merging-bench.ts';
import { type Branch, differing } from './merging-branch.ts';
import { type Commit, readCommit } from './merging-commit.ts';
import { entries } from './private-index.ts';
import { git } from './process.ts';
import { utf8 } from './snapshot-files.ts';

export async function findReverts(
  bench: Bench,
  branch: Branch,
  target: Commit,
  tree: string,
): Promise<readonly string[]> {
  const changed = await differing(bench.dir, target.tree, tree);
  const [allowed, evil] = [new Set(branch.own), new Set<string>()];
  for (const merge of branch.commits.filter(({ parents }) => parents.length > 1)) {
    const looked = await lookAtMerge(bench, merge);
    for (const file of looked.allowed) allowed.add(file);
    for (const file of looked.evil) evil.add(file);
  }
  const unexplained = changed.filter((file) => !allowed.has(file));
  const moved = unexplained.length === 0 ? new Set<string>() : await movedByTarget(bench, branch, allowed);
  return changed
    .filter((file) => evil.has(file) || (!allowed.has(file) && !moved.has(file)))
    .map(utf8)
    .toSorted();
}

interface LookedAt {
  readonly allowed: readonly string[];
  readonly evil: readonly string[];
}

async function lookAtMerge(bench: Bench, merge: Commit): Promise<LookedAt> {
  const again = await mergeAgain(bench, merge);
  const inConflict = new Set(again.files);
  const others = (await differing(bench.dir, again.tree, merge.tree)).filter((file) => !inConflict.has(file));
  // A name that no parent has takes nothing back: it is what became of a file in conflict.
  const isNew = await areNew(bench, merge, others);
  return {
    allowed: [...inConflict, ...others.filter((_, at) => isNew[at])],
    evil: others.filter((_, at) => !isNew[at]),
  };
}

interface Again {
  readonly tree: string;
  readonly files: readonly string[];
}

/** Of more than two parents, one after another. */
async function mergeAgain(bench: Bench, { parents }: Commit): Promise<Again> {
  const [first, ...rest] = parents as readonly [CommitId, ...CommitId[]];
  let [ours, tree, files]: [CommitId, string, readonly string[]] = [first, '', []];
  for (const [at, theirs] of rest.entries()) {
    const merged =
      (await bench.merge(ours, theirs)) ?? (await bench.merge(ours, theirs, { allowsUnrelated: true }));
    if (merged === undefined) throw new Error(`git cannot merge ${ours} and ${theirs}.`);
    tree = merged.tree;
    files = merged.clean ? files : [...files, ...merged.files];
    if (at + 1 < rest.length) ours = bench.stand(tree, parents.slice(0, at + 2));
  }
  return { tree, files };
}

async function areNew(
  { reader }: Bench,
  { parents }: Commit,
  files: readonly string[],
): Promise<readonly boolean[]> {
  return Promise.all(
    files.map(async (file) => {
      const name = utf8(file);
      if (/[\n\uFFFD]/.test(name)) return false;
      const found = await reader.check(parents.map((parent) => `${parent}:${name}`));
      return found.every((one) => one === undefined);
    }),
  );
}

/** Where the files that the task changed are in the target now: git merges a change into a file that was renamed. */
async function movedByTarget(
  { dir }: Bench,
  { onto, commits }: Branch,
  own: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const ids = new Set(commits.map(({ id }) => id));
  const outside = new Set(commits.flatMap(({ parents }) => parents).filter((parent) => !ids.has(parent)));
  const moved = new Set<string>();
  for (const start of outside) {
    const argv = ['diff-tree', '-r', '-z', '--name-status', '--find-renames', '--diff-filter=R', start, onto];
    const parts = entries(await git(dir, argv));
    for (let at = 0; at + 2 < parts.length; at += 3) {
      const [from = '', to = ''] = [parts[at + 1], parts[at + 2]];
      if (own.has(from)) moved.add(to);
    }
  }
  return moved;
}

/** Whether as many steps back from the commit as it is said to add, there is the target's tip: by what was written. */
export async function isOnTop(
  { reader }: Bench,
  { commit, commits }: { readonly commit: CommitId; readonly commits: number },
  onto: CommitId,
): Promise<boolean> {
  let at: CommitId | undefined = commit;
  for (let left = commits; at !== onto && at !== undefined && left > 0; left -= 1)
    at = (await readCommit(reader, at)).parents[0];
  return at === onto;
}
