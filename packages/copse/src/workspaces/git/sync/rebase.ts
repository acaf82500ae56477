/**
 * Makes a branch's commits anew on another commit, without its merges, in the object store. Git 2.39 can merge two commits only
 * over their common base: so a commit with the tree of the new tip and the parent of the original stands in for the tip.
 */

import { defaultPolicy } from '../../../kernel/policy.ts';
import { type CommitId, type Timestamp, brand } from '../../../kernel/ids.ts';
import { encodeCommit, knownObjectsOf } from '../../../git/objects.ts';
import { identityEnv } from '../../../git/identity.ts';
import { git, gitLine, tryGit, type TrustedDir } from '../../../git/process.ts';

const MOST_COMMITS = defaultPolicy.worktreeFiles.rebasedCommits;

export interface Rebase {
  readonly worktree: string;
  readonly onto: CommitId;
  readonly tip: CommitId;
  /** What the merge of both gives: the result has this tree. */
  readonly tree: string;
  readonly at: Timestamp;
}

/** Undefined when that gives another tree, conflicts, or there is too much. */
export async function rebase(dir: TrustedDir, request: Rebase): Promise<CommitId | undefined> {
  const { worktree, onto, tip, at } = request;
  const argv = ['rev-list', '--topo-order', '--reverse', '--no-merges', `--max-count=${MOST_COMMITS + 1}`];
  const lines = (await git(dir, [...argv, tip, `^${onto}`])).toString().split('\n');
  const ids = lines.filter((line) => line !== '').map((line) => brand<CommitId>(line));
  if (ids.length > MOST_COMMITS) return undefined;
  const objects = knownObjectsOf(dir);
  const env = await identityEnv(dir);
  let now = { commit: onto, tree: (await objects.commit(onto)).tree };
  for (const id of ids) {
    const original = await objects.commit(id);
    const [parent] = original.parents;
    if (parent === undefined) return undefined;
    const standIn = await gitLine(dir, ['commit-tree', now.tree, '-p', parent, '-m', 'copse'], { env });
    const merge = ['merge-tree', '--write-tree', '--no-messages', standIn, id];
    const { code, stdout } = await tryGit(dir, merge, { workTree: worktree });
    if (code !== 0) return undefined;
    const tree = stdout.toString().trim();
    const wasEmpty = original.tree === (await objects.commit(parent)).tree;
    if (tree === now.tree && !wasEmpty) continue;
    const input = encodeCommit({ ...original, tree, parents: [now.commit], at });
    const commit = await gitLine(dir, ['hash-object', '-t', 'commit', '-w', '--stdin'], { input });
    now = { commit: brand(commit), tree };
  }
  return now.tree === request.tree ? now.commit : undefined;
}
