/**
 * Merging in the object store.
 *
 * A candidate is a commit that the target may move to. Its tree is the three-way merge of the task's head and the target's
 * tip, whatever shape its history gets; rebased, it is compared with that merge, and where they differ it is merged. Only
 * where there is no such merge without a conflict may a rebase without one stand alone: the target has part of the branch
 * already. Nothing in a candidate depends on who makes it or when, so asked twice, the same id comes out.
 *
 * Merges are made in a throwaway object store; only candidates that somebody needs go into the repository (quarantine.ts).
 * As long as the gits that stay do, none is started for a candidate, a trial or a move of the target.
 *
 * A candidate is refused that is not what was submitted (merging-verify.ts). At first nobody but the engine that built it knows
 * it. It is brought into the repository, and on the disk for good, when somebody asks for that or when the target is asked to
 * move, also when that is only tried: so whoever is about to land tries first, and then writes down what it is going to do. It
 * has no ref: whoever relies on it for longer than a moment gives it one, or anybody's garbage collection may take it.
 */

import { type CommitId, brand } from '../../kernel/ids.ts';
import type { Merging } from '../ports/merging.ts';
import { MergeEngine } from './engine.ts';
import { type Resolve, buildCandidate, tryCandidate } from './build.ts';
import { commitAll, listUnresolved } from '../target/commit-all.ts';
import { logCommits } from './branch.ts';
import { listConflicts } from './conflicts.ts';
import { pushBranch } from '../target/push.ts';
import { type TargetOptions, moveTarget } from '../target/target.ts';
import { knownObjectsOf } from '../../git/objects/objects.ts';
import type { TrustedDir } from '../../git/process.ts';

export interface MergingOptions extends TargetOptions {
  readonly pushTimeoutMs?: number;
  /** For a merge that conflicts: what it is to be instead, where somebody knows. */
  readonly resolve?: Resolve;
}

/** The gits that stay do not keep a program from ending; `close` is for those that go on without merging. */
export function openMerging(
  dir: TrustedDir,
  options: MergingOptions = {},
): Merging & { readonly close: () => Promise<void> } {
  const engine = new MergeEngine(dir);
  const bring = async (commit: CommitId): Promise<void> => {
    for (const { id, type, content } of await engine.quarantine.bring(commit))
      if (type === 'commit') knownObjectsOf(dir).remember(brand(id), content);
  };
  return {
    bring,
    build: (request) => buildCandidate(engine, request, options.resolve),
    trial: async (onto, head, method = 'rebase') => ({
      conflicts: await tryCandidate(engine, onto, head, method),
    }),
    treeOf: (commit) => engine.use(async () => (await engine.objects.commit(commit)).tree),
    conflicts: (onto, head, limits) => listConflicts(engine, onto, head, limits),
    commits: (notFrom, from, limit) =>
      logCommits(dir, ['--topo-order', `--max-count=${limit}`, from, `^${notFrom}`, '--']),
    async moveTarget(request) {
      await bring(request.to);
      return moveTarget(dir, request, options);
    },
    async push(branch, commit) {
      await bring(commit);
      return pushBranch(dir, branch, commit, options.pushTimeoutMs);
    },
    commitAll: (worktree, message) => commitAll(dir, worktree, message),
    unresolved: (worktree) => listUnresolved(dir, worktree),
    close: () => engine.close(),
  };
}
