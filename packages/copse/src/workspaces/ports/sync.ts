/** Bringing the base into a task's branch, in its worktree. */

import type { BranchName, CommitId, TaskId } from '../../kernel/ids.ts';

export const syncSteps = ['locked', 'noted', 'files_written', 'branch_moved', 'index_written'] as const;
export type SyncStep = (typeof syncSteps)[number];

export interface SyncRequest {
  readonly task: TaskId;
  readonly worktree: string;
  readonly base: { readonly branch: BranchName; readonly commit: CommitId };
  /** On a conflict: leave it in the worktree as `git merge` does, to be resolved and committed there. */
  readonly leaveConflict?: boolean;
  readonly onStep?: (step: SyncStep) => void;
}

export type SyncOutcome =
  | { readonly synced: 'up_to_date'; readonly tip: CommitId }
  | {
      readonly synced: 'fast_forwarded' | 'merged';
      readonly from: CommitId;
      readonly tip: CommitId;
      /** How many files of the worktree were written or removed. */
      readonly files: number;
    }
  /** The worktree is in the middle of a merge; these paths are to be resolved. */
  | { readonly synced: 'conflict_left'; readonly paths: readonly string[] }
  /** Nothing was changed. */
  | { readonly synced: 'no'; readonly because: SyncRefusal; readonly paths: readonly string[] };

export type SyncRefusal =
  | 'conflict'
  /** Uncommitted, untracked or ignored files are where the base has other content. */
  | 'in_the_way'
  | 'detached'
  /** A merge, rebase or the like is not finished. */
  | 'in_progress'
  /** Another git command is using the worktree. */
  | 'locked'
  /** Somebody moved the branch at the same moment. */
  | 'moved'
  | 'unrelated';

export interface Sync {
  /** Finishes first what an earlier call was killed in. Whoever calls holds the task's lock. */
  bring(request: SyncRequest): Promise<SyncOutcome>;
  /**
   * Finishes what a killed sync began in a worktree, and takes the lock files away that killed gits left there. Whoever calls
   * holds the task's lock, as for `bring`, and knows that no git is at work in it.
   */
  settle(worktree: string): Promise<void>;
}
