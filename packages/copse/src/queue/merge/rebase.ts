/**
 * Rebases without files. Git 2.39 can merge two commits only over their common base. So to replay a commit C with the parent P
 * on the tip T, Copse makes a commit with the tree of T and the parent P and merges it with C: their base is P, and the result
 * is the tree of C on T.
 */

import { type CommitId, type Timestamp, brand } from '../../kernel/ids.ts';
import type { Merged } from '../../git/long-lived.ts';
import type { TargetMerger } from './engine.ts';
import type { Branch } from './branch.ts';
import { type Commit, asBytes, oneLine } from '../../git/objects.ts';
import { type Trailer, withTrailers } from './trailers.ts';

interface Details {
  /** For commits without a message. */
  readonly title: string;
  readonly trailers: readonly Trailer[];
  readonly at: Timestamp;
}

interface Replayed {
  readonly commit: CommitId;
  readonly tree: string;
  readonly commits: number;
}

/** Leaves merges out. Undefined when a commit conflicts, or has no parent. */
export async function replay(
  merger: TargetMerger,
  { onto, head, commits: all, isLinear }: Branch,
  { target, merged }: { readonly target: Commit; readonly merged: Merged },
  { title, trailers, at }: Details,
): Promise<Replayed | undefined> {
  let tip = { commit: onto, tree: target.tree };
  let count = 0;
  const commits = all.filter(({ parents }) => parents.length < 2);
  for (const original of commits) {
    const [parent] = original.parents;
    if (parent === undefined) return undefined;
    const parentTree = (await merger.objects.commit(parent)).tree;
    const wasEmpty = original.tree === parentTree;
    const tree = wasEmpty
      ? tip.tree
      : isLinear && commits.length === 1
        ? // The merge of the whole branch is that of its only commit.
          treeOf(merged)
        : await replayTree(merger, original, parentTree, tip.tree);
    if (tree === undefined) {
      // The target has the same change and newer ones on top.
      if ((await landedBefore(merger, onto, head)).has(original.id)) continue;
      return undefined;
    }
    if (tree === tip.tree && !wasEmpty) continue;
    const text = original.message.trim() === '' ? asBytes(`${oneLine(title)}\n`) : original.message;
    const message = withTrailers(text, trailers);
    const isAsItWas =
      original.parents[0] === tip.commit && original.tree === tree && message === original.message;
    const commit = isAsItWas
      ? original.id
      : merger.write({ ...original, tree, parents: [tip.commit], message, at });
    tip = { commit, tree };
    count += 1;
  }
  return { ...tip, commits: count };
}

async function replayTree(
  merger: TargetMerger,
  { id, parents, tree }: Commit,
  parentTree: string,
  tipTree: string,
): Promise<string | undefined> {
  const spliced = await merger.splice({ base: parentTree, side: tree, onto: tipTree });
  if (spliced !== undefined) return spliced;
  const merged = await merger.merge(merger.writeTemporary(tipTree, parents), id);
  return merged && treeOf(merged);
}

function treeOf(merged: Merged): string | undefined {
  return merged.kind === 'clean' ? merged.tree : undefined;
}

/** Commits of the branch whose patch is also a commit of the target. */
async function landedBefore(
  { objects }: TargetMerger,
  onto: CommitId,
  head: CommitId,
): Promise<ReadonlySet<CommitId>> {
  const argv = ['rev-list', '--right-only', '--cherry-mark', '--no-merges', `${onto}...${head}`];
  const lines = (await objects.askGit(argv)).toString().split('\n');
  return new Set(lines.filter((line) => line.startsWith('=')).map((line) => brand<CommitId>(line.slice(1))));
}
