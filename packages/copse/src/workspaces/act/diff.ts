/** The changes of a task's branch since it left the base, uncommitted ones included. */

import type { BranchName, CommitId, NodeId, TaskId } from '../../kernel/ids.ts';
import type { Diff, Diffs } from '../ports/worktrees.ts';
import type { Git } from '../../git/port.ts';
import type { Context } from '../../board/context.ts';
import { baseBranchOf, findNewestBase } from './newest-base.ts';
import { workspaceOf } from './context.ts';
import { headOfTask } from './head-of-task.ts';
import { findElsewhere, refusedWithoutWorktree, whereText } from './shared/elsewhere.ts';
import { bringNewest } from './shared/share-work.ts';

export interface DiffContext extends Context {
  readonly git: Git;
  readonly diffs: Diffs;
  readonly node: NodeId;
  readonly target: string | undefined;
}

export interface DiffOptions {
  readonly includeUncommitted?: boolean;
  readonly withoutPatch?: boolean;
  readonly maxPatchBytes?: number;
}

export type TaskDiff =
  | {
      readonly kind: 'found';
      readonly diff: Diff;
      readonly base: BranchName;
      /** Where the branch left the base. */
      readonly from: CommitId;
      readonly head: CommitId;
      /** Null when HEAD is detached. */
      readonly branch: BranchName | null;
    }
  | {
      readonly kind: 'refused';
      readonly because: 'no_workspace' | 'no_branch' | 'no_base';
      readonly reason: string;
      readonly next: readonly string[];
    };

export async function diffTask(
  context: DiffContext,
  task: TaskId,
  options: DiffOptions = {},
): Promise<TaskDiff> {
  const { git, diffs, target } = context;
  const known = await workspaceOf(context, task);
  const worktree = known?.worktree;
  if (!worktree) return diffShared(context, task, options);
  const facts = await git.look(worktree.path);
  const isThere = facts.state === 'healthy';
  const branch = isThere ? facts.branch : worktree.branch;
  const { head } = await headOfTask(git, worktree, facts);
  if (head === undefined) {
    const reason = `The branch ${worktree.branch} of ${task} was deleted.`;
    return {
      kind: 'refused',
      because: 'no_branch',
      reason,
      next: [`copse work ${task}`, 'copse rescue list'],
    };
  }
  const name = await baseBranchOf(git, target, worktree.baseBranch);
  const base = name && (await findNewestBase(git, name));
  const from = (base && (await git.mergeBase(base.commit, head))) ?? (await knownStart(git, worktree, head));
  if (from === undefined) {
    const reason = `The branch of ${task} has nothing in common with ${name ?? 'any base'}.`;
    return { kind: 'refused', because: 'no_base', reason, next: ['git fetch'] };
  }
  const diff = await diffs.compare({
    from,
    to: head,
    ...(options.includeUncommitted && isThere && facts.head === head && { withUncommittedIn: worktree.path }),
    ...(options.withoutPatch && { withoutPatch: true }),
    maxPatchBytes: options.maxPatchBytes,
  });
  return { kind: 'found', diff, base: base?.branch ?? worktree.baseBranch, from, head, branch };
}

/** Of a worktree on another machine, the last snapshot is compared, uncommitted files included. */
async function diffShared(context: DiffContext, task: TaskId, options: DiffOptions): Promise<TaskDiff> {
  const { board, clock, git, diffs, target } = context;
  const elsewhere = await findElsewhere(context, task);
  const found = elsewhere && (await bringNewest(context, task));
  const worktree = elsewhere?.workspace.worktree;
  if (!worktree || found?.brought.kind !== 'here') {
    const where = await whereText(context, task, clock.now());
    const why = found?.brought.kind === 'failed' ? ` ${found.brought.reason}` : '';
    const reason = elsewhere
      ? `${where}${why} So there is nothing to compare.`
      : `${task} has no worktree on this machine, so there is nothing to compare.`;
    return {
      kind: 'refused',
      because: 'no_workspace',
      ...(await refusedWithoutWorktree(context, task, reason)),
    };
  }
  const { snapshot } = found.work;
  const state = (await board.get('task', task))?.state;
  const submitted = state?.status === 'in_review' ? await git.tip(state.head) : undefined;
  const head = submitted ?? snapshot.head;
  const name = await baseBranchOf(git, target, worktree.baseBranch);
  const base = name && (await findNewestBase(git, name));
  const from = (base && (await git.mergeBase(base.commit, head))) ?? (await knownStart(git, worktree, head));
  if (from === undefined) {
    const reason = `The snapshot of ${task} has nothing in common with ${name ?? 'any base'}.`;
    return { kind: 'refused', because: 'no_base', reason, next: ['git fetch'] };
  }
  const to = submitted ?? snapshot.commit;
  const diff = await diffs.compare({
    from,
    to,
    ...(options.withoutPatch && { withoutPatch: true }),
    maxPatchBytes: options.maxPatchBytes,
  });
  return {
    kind: 'found',
    diff,
    base: base?.branch ?? worktree.baseBranch,
    from,
    head,
    branch: worktree.branch,
  };
}

/** The commit it began at, if the branch still contains it; for when the base was deleted. */
async function knownStart(
  git: Git,
  { baseCommit }: { readonly baseCommit: CommitId },
  head: CommitId,
): Promise<CommitId | undefined> {
  const exists = (await git.tip(baseCommit)) !== undefined;
  return exists && (await git.isAncestor(baseCommit, head)) ? baseCommit : undefined;
}
