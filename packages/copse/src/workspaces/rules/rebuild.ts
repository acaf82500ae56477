/**
 * What happens to a task that the board no longer knows, by what git and the worktrees still show of it. Nothing starts or
 * lands without a person afterwards: finished work waits for review, unfinished work is paused.
 */

import type { BranchName, CommitId, TaskId } from '../../kernel/ids.ts';

export interface TaskTraces {
  readonly task: TaskId;
  readonly branch: { readonly name: BranchName; readonly tip: CommitId; readonly isMerged: boolean } | null;
  /** The folder of its registered worktree. */
  readonly worktree: string | null;
  /** The latest commit of the target with its trailer. An agent can write a trailer, so it proves little alone. */
  readonly landed: CommitId | null;
  /** Refs that keep commits or rescued files of it. */
  readonly kept: number;
  /** The subject of a commit of it. */
  readonly subject: string | null;
}

export type RebuiltState =
  | { readonly kind: 'in_review'; readonly branch: BranchName; readonly head: CommitId }
  | { readonly kind: 'paused' }
  | { readonly kind: 'done'; readonly commit: CommitId }
  | { readonly kind: 'cancelled'; readonly reason: string };

export function decideRebuilt({ task, branch, worktree, landed }: TaskTraces): RebuiltState {
  if (branch !== null && !branch.isMerged)
    return { kind: 'in_review', branch: branch.name, head: branch.tip };
  if (landed !== null) return { kind: 'done', commit: landed };
  if (worktree !== null || branch !== null) return { kind: 'paused' };
  return {
    kind: 'cancelled',
    reason: `Rebuilt without a branch or a worktree; what refs keep of it: copse rescue list ${task}`,
  };
}

export function rebuiltTitle({ task, branch, subject }: TaskTraces): string {
  return subject ?? branch?.name ?? `Task ${task}`;
}

/** Says what is known and what is not. */
export function rebuiltBody({ branch, worktree, landed, kept }: TaskTraces): string {
  const known = [
    ...(branch === null ? [] : [`branch ${branch.name}`]),
    ...(worktree === null ? [] : [`worktree ${worktree}`]),
    ...(landed === null ? [] : [`commit ${landed} on the target names it in its trailer`]),
    ...(kept === 0 ? [] : [`${kept} refs under refs/copse`]),
  ];
  return [
    'Rebuilt by `copse board rebuild`, because the board was lost.',
    `Known: ${known.join('; ')}.`,
    'Unknown: the title (taken from a commit or the branch), the assignment, priority, dependencies, areas, accept commands, the agent and its conversation, whether the work was finished or reviewed.',
  ].join('\n');
}
