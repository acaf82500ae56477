/**
 * Merging in the object store.
 *
 * A candidate is a commit that the target may move to. Its tree is the three-way merge of the task's head and the target's
 * tip, for every method. A branch with merges is rebased without them; a rebased history whose tree differs from that merge
 * is squashed, so that `rebase` never makes a merge commit. Only where the merge conflicts
 * and the rebase does not, the rebase counts: the target has part of the branch already. A candidate does not depend on its
 * maker or the time, so the same request gives the same id.
 *
 * Merges are made in a throwaway object store; only candidates that are needed go into the repository (quarantine.ts). While
 * the long-lived gits run, no process is started for a candidate, a trial or a move of the target.
 *
 * A candidate that is not what was submitted is refused (verify.ts). At first only the engine that built a candidate has it.
 * `bring` writes it into the repository and syncs it to disk; moving the target and trying to move it do so as well. So the
 * queue tries first, and then records what it is going to do. A candidate has no ref: code that relies on it for longer than a
 * moment gives it one, or a garbage collection may delete it.
 */

import { type CommitId, brand } from '../../kernel/ids.ts';
import type { Merging } from '../ports/merging.ts';
import { MergeEngine } from './engine.ts';
import { type Resolve, buildCandidate, tryCandidate } from './build.ts';
import { commitAll, listUnresolved } from '../target/commit-all.ts';
import { logCommits } from './branch.ts';
import { listConflicts } from './conflicts.ts';
import { Examiner } from './examine.ts';
import { pushBranch } from '../target/push.ts';
import { type TargetOptions, moveTarget, settleTarget } from '../target/target.ts';
import { notedTargets } from '../../workspaces/git/sync/note.ts';
import { knownObjectsOf } from '../../git/objects.ts';
import type { TrustedDir } from '../../git/process.ts';

export interface MergingOptions extends TargetOptions {
  readonly pushTimeoutMs?: number;
  /** Resolves a merge that conflicts, or returns undefined. */
  readonly resolve?: Resolve;
}

/** The long-lived gits do not keep the process alive; `close` ends them earlier. */
export function openMerging(
  dir: TrustedDir,
  options: MergingOptions = {},
): Merging & { readonly close: () => Promise<void> } {
  const engine = new MergeEngine(dir);
  const examiner = new Examiner(dir);
  const bring = async (commit: CommitId): Promise<void> => {
    for (const { id, type, content } of await engine.quarantine.bring(commit))
      if (type === 'commit') knownObjectsOf(dir).remember(brand(id), content);
  };
  return {
    bring,
    drop: (commits) => engine.quarantine.drop(commits),
    build: (request) => buildCandidate(engine, request, options.resolve),
    trial: (onto, head, method = 'rebase') => tryCandidate(engine, onto, head, method),
    examine: (onto, heads) => examiner.examine(onto, heads),
    treeOf: (commit) => engine.use(async () => (await engine.objects.commit(commit)).tree),
    conflicts: (onto, head, limits) => listConflicts(engine, onto, head, limits),
    commits: (notFrom, from, limit) =>
      logCommits(dir, ['--topo-order', `--max-count=${limit}`, from, `^${notFrom}`, '--']),
    async moveTarget(request) {
      await bring(request.to);
      return moveTarget(dir, request, options);
    },
    settleTarget: (target) => settleTarget(dir, target, options),
    unsettledTargets: () => notedTargets(dir),
    async push(branch, commit, from) {
      await bring(commit);
      return pushBranch(dir, branch, commit, {
        timeoutMs: options.pushTimeoutMs,
        ...(from !== undefined && { from }),
      });
    },
    commitAll: (worktree, branch, message) => commitAll(dir, worktree, branch, message),
    unresolved: (worktree) => listUnresolved(dir, worktree),
    close: () => engine.close(),
  };
}
