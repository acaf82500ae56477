/**
 * Checks that a candidate holds what was submitted, on top of the target, and nothing else. It is refused when
 *
 *   1. it changes a path that no commit of the task changed and that had no conflict in the task's merges
 *   2. a merge of the branch differs, at a path without a conflict, from git's merge of its parents: `git merge -s ours`, or a
 *      resolution that drops the other side's part
 *   3. a path that only the task changed since the merge base is not as the task left it, or a path that the task did not
 *      change is not as the target has it
 *   4. Copse resolved a conflict, and a path without a conflict differs from the merge
 *
 * For 1 and 2, only paths that would differ from the target count: a mistake that was corrected later does no harm. Where one
 * side renamed a file and the other changed it, git puts the change at the new name.
 */

import type { CommitId } from '../../kernel/ids.ts';
import type { TargetMerger } from './engine.ts';
import { type Branch, mergeBasesOf, outsideOf } from './branch.ts';
import { type Commit, type TreeChange, TreeView, diffTrees, isSameEntry } from '../../git/objects.ts';
import { entries, utf8 } from '../../git/output.ts';

interface Submitted {
  readonly branch: Branch;
  readonly target: Commit;
  /** The candidate's tree. */
  readonly tree: string;
  /** Of a conflict that Copse resolved. */
  readonly resolved?: ResolvedConflict | undefined;
}

export interface ResolvedConflict {
  /** The tree that git made, with conflicts. */
  readonly merged: string;
  /** The paths at which the resolution may differ from it; one character per byte. */
  readonly paths: ReadonlySet<string>;
}

export async function findReverts(merger: TargetMerger, submitted: Submitted): Promise<readonly string[]> {
  const { objects } = merger;
  const { target, tree, resolved } = submitted;
  const changes = await diffTrees(objects, target.tree, tree);
  const found = new Set([
    ...(await findForeign(merger, submitted, changes)),
    ...(await findLost(merger, submitted, changes)),
  ]);
  for (const path of resolved?.paths ?? []) found.delete(path);
  if (resolved !== undefined)
    for (const { path } of await diffTrees(objects, resolved.merged, tree))
      if (!resolved.paths.has(path)) found.add(path);
  return [...found].map(utf8).toSorted();
}

/** Paths that the candidate changes and the task did not. */
async function findForeign(
  merger: TargetMerger,
  { branch }: Submitted,
  changes: readonly TreeChange[],
): Promise<readonly string[]> {
  const [allowed, evil] = [new Set(branch.own), new Set<string>()];
  for (const merge of branch.commits.filter(({ parents }) => parents.length > 1)) {
    const looked = await lookAtMerge(merger, merge);
    for (const file of looked.allowed) allowed.add(file);
    for (const file of looked.evil) evil.add(file);
  }
  const changed = changes.map(({ path }) => path);
  const unexplained = changed.filter((file) => !allowed.has(file));
  const moved = unexplained.length === 0 ? new Set<string>() : await movedByTarget(merger, branch, allowed);
  return changed.filter((file) => evil.has(file) || (!allowed.has(file) && !moved.has(file)));
}

interface LookedAt {
  readonly allowed: readonly string[];
  readonly evil: readonly string[];
}

async function lookAtMerge(merger: TargetMerger, merge: Commit): Promise<LookedAt> {
  const again = await mergeAgain(merger, merge);
  const inConflict = new Set(again.files);
  const differing = await diffTrees(merger.objects, again.tree, merge.tree);
  const others = differing.map(({ path }) => path).filter((file) => !inConflict.has(file));
  // A name that no parent has reverts nothing: it is the new name of a file in conflict.
  const isNew = await areNew(merger, merge, others);
  return {
    allowed: [...inConflict, ...others.filter((_, at) => isNew[at])],
    evil: others.filter((_, at) => !isNew[at]),
  };
}

interface Again {
  readonly tree: string;
  readonly files: readonly string[];
}

/** Merges more than two parents one after another. */
async function mergeAgain(merger: TargetMerger, { parents }: Commit): Promise<Again> {
  const [first, ...rest] = parents as readonly [CommitId, ...CommitId[]];
  let [ours, tree, files]: [CommitId, string, readonly string[]] = [first, '', []];
  for (const [at, theirs] of rest.entries()) {
    const merged =
      (await merger.merge(ours, theirs)) ?? (await merger.merge(ours, theirs, { allowsUnrelated: true }));
    if (merged === undefined) throw new Error(`git cannot merge ${ours} and ${theirs}.`);
    tree = merged.tree;
    files = merged.kind === 'clean' ? files : [...files, ...merged.files];
    if (at + 1 < rest.length) ours = merger.writeTemporary(tree, parents.slice(0, at + 2));
  }
  return { tree, files };
}

async function areNew(
  { objects }: TargetMerger,
  { parents }: Commit,
  files: readonly string[],
): Promise<readonly boolean[]> {
  if (files.length === 0) return [];
  const commits = await Promise.all(parents.map((parent) => objects.commit(parent)));
  const views = commits.map(({ tree }) => new TreeView(objects, tree));
  return Promise.all(
    files.map(async (file) => {
      const found = await Promise.all(views.map((view) => view.find(file)));
      return found.every((one) => one === undefined);
    }),
  );
}

/** The target's present names of files that the task changed. */
async function movedByTarget(
  { objects }: TargetMerger,
  branch: Branch,
  own: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const moved = new Set<string>();
  for (const start of outsideOf(branch)) {
    const argv = ['diff-tree', '-r', '-z', '--name-status', '--find-renames', '--diff-filter=R'];
    const parts = entries(await objects.askGit([...argv, start, branch.onto]));
    for (let at = 0; at + 2 < parts.length; at += 3) {
      const [from = '', to = ''] = [parts[at + 1], parts[at + 2]];
      if (own.has(from)) moved.add(to);
    }
  }
  return moved;
}

/** Paths that only the task changed and that differ from its version, and paths that it did not change and that change. */
async function findLost(
  { objects }: TargetMerger,
  { branch, target }: Submitted,
  changes: readonly TreeChange[],
): Promise<readonly string[]> {
  const bases = await mergeBasesOf(objects, branch);
  const [base] = bases;
  if (base === undefined) return [];
  const head = await objects.commit(branch.head);
  const before = bases.map(({ tree }) => new TreeView(objects, tree));
  const inBases = (path: string) => Promise.all(before.map((view) => view.find(path)));
  const now = new TreeView(objects, target.tree);
  const submitted = new Map((await diffTrees(objects, base.tree, head.tree)).map((one) => [one.path, one]));
  const candidate = new Map(changes.map((one) => [one.path, one]));
  const lost: TreeChange[] = [];
  let isMoveOfChanged = false;
  for (const change of submitted.values()) {
    const [inTarget, were] = [await now.find(change.path), await inBases(change.path)];
    const isUntouched = were.every((was) => isSameEntry(was, inTarget));
    if (!isUntouched && change.after === undefined) isMoveOfChanged = true;
    const found = candidate.get(change.path);
    if (isUntouched && !isSameEntry(found === undefined ? inTarget : found.after, change.after))
      lost.push(change);
  }
  // The target's changes to a file that the task moved are at the new name. A deleted file would have been a conflict.
  const found = lost.filter((one) => !isMoveOfChanged || one.before !== undefined).map(({ path }) => path);
  for (const { path, before: inTarget } of changes) {
    if (submitted.has(path)) continue;
    const [was, ...others] = await inBases(path);
    // The target may have moved a file here that the task changed; findForeign checks those.
    const mayBeMoved = was === undefined && inTarget !== undefined;
    if (!mayBeMoved && others.every((other) => isSameEntry(other, was))) found.push(path);
  }
  return found;
}

/** Whether the target's tip is exactly `commits` steps back from the commit, read from the written commits. */
export async function isOnTop(
  { objects }: TargetMerger,
  { commit, commits }: { readonly commit: CommitId; readonly commits: number },
  onto: CommitId,
): Promise<boolean> {
  let at: CommitId | undefined = commit;
  for (let left = commits; at !== onto && at !== undefined && left > 0; left -= 1)
    at = (await objects.commit(at)).parents[0];
  return at === onto;
}
