/**
 * What git does with the files of a worktree and of the main checkout: comparing (`Diffs`), bringing the base into a branch
 * (`Sync`), and looking at a person's own checkout (`MainCheckout`).
 */

import type { CheckoutState } from '../rules/escape.ts';
import type { BranchName, CommitId, TaskId, Timestamp } from '../../kernel/ids.ts';

export interface ChangedFile {
  readonly path: string;
  /** Where it was before it was moved or copied. */
  readonly from: string | null;
  readonly change: 'added' | 'deleted' | 'modified' | 'renamed' | 'copied' | 'type_changed';
  /** Null for binary files. */
  readonly lines: { readonly inserted: number; readonly deleted: number } | null;
}

export interface Diff {
  readonly files: readonly ChangedFile[];
  readonly inserted: number;
  readonly deleted: number;
  readonly patch: Buffer;
}

export interface DiffRequest {
  readonly from: CommitId;
  readonly to: CommitId;
  /** A worktree at the second commit whose uncommitted files count too. */
  readonly withUncommittedIn?: string;
  /** The summary alone costs less. */
  readonly withoutPatch?: boolean;
  /** Only the beginning of the patch, which may be as large as an agent likes. */
  readonly maxPatchBytes?: number | undefined;
  /** Without so much of its beginning, which the pages before it have. */
  readonly skipPatchBytes?: number | undefined;
}

export interface Diffs {
  compare(request: DiffRequest): Promise<Diff>;
}

export const syncSteps = ['locked', 'noted', 'files_written', 'branch_moved', 'index_written'] as const;
export type SyncStep = (typeof syncSteps)[number];

export interface SyncRequest {
  readonly task: TaskId;
  readonly worktree: string;
  /** The task's branch on the board. Nothing is written while HEAD of the worktree, which an agent can write, names another. */
  readonly branch: BranchName;
  readonly base: { readonly branch: BranchName; readonly commit: CommitId };
  /** On a conflict: leave it in the worktree as `git merge` does, to be resolved and committed there. */
  readonly leaveConflict?: boolean;
  /** Make its commits anew on the base, at this time, where that gives the same files as a merge. `keep`: the old tip. */
  readonly rebase?: { readonly at: Timestamp; readonly keep: (tip: CommitId) => Promise<unknown> };
  readonly onStep?: (step: SyncStep) => void;
}

export type SyncOutcome =
  | { readonly kind: 'up_to_date'; readonly tip: CommitId }
  | {
      readonly kind: 'fast_forwarded' | 'merged' | 'rebased';
      readonly from: CommitId;
      readonly tip: CommitId;
      /** How many files of the worktree were written or removed. */
      readonly files: number;
    }
  /** The worktree is in the middle of a merge; these paths are to be resolved. */
  | { readonly kind: 'conflict_left'; readonly paths: readonly string[] }
  /** Nothing was changed. */
  | { readonly kind: 'refused'; readonly because: SyncRefusal; readonly paths: readonly string[] };

export type SyncRefusal =
  | 'conflict'
  /** Uncommitted, untracked or ignored files are where the base has other content. */
  | 'in_the_way'
  | 'detached'
  /** HEAD is on another branch than the task's. */
  | 'elsewhere'
  /** The task's branch is a symbolic ref to another one. */
  | 'alias'
  /** A merge, rebase or the like is not finished. */
  | 'in_progress'
  /** Another git command is using the worktree. */
  | 'locked'
  /** Another process moved the branch at the same moment. */
  | 'moved'
  | 'unrelated';

export interface Sync {
  /** First finishes a sync that was killed. The caller holds the task's lock. */
  bring(request: SyncRequest): Promise<SyncOutcome>;
  /**
   * Finishes a sync that was killed and removes the lock files of killed gits. The caller holds the task's lock and knows
   * that no git runs in the worktree.
   */
  settle(worktree: string, branch: BranchName): Promise<void>;
}

export interface Look {
  /** An earlier look: files that did not change since are not read again. */
  readonly since?: CheckoutState;
  /** List what differs from this commit instead of HEAD. */
  readonly against?: CommitId;
}

export interface MoveRequest {
  readonly paths: readonly string[];
  /** A rescue of the main checkout that has them. */
  readonly snapshot: CommitId;
  readonly worktree: string;
}

export interface PathMove {
  readonly path: string;
  readonly outcome:
    | 'moved'
    /** It is as HEAD has it. */
    | 'unchanged'
    /** It is in the person's index, which stays as it is. */
    | 'staged'
    /** The worktree has something of its own there. */
    | 'in_the_way'
    /** It changed meanwhile, so it was left in the main checkout. */
    | 'changed_since'
    | 'not_a_file';
}

/** A person's checkout. It is written only at the paths that a person asks to be moved. */
export interface MainCheckout {
  look(look?: Look): Promise<CheckoutState>;
  /** File by file: first into the worktree, then, if the main checkout still has exactly that, back to HEAD there. */
  move(request: MoveRequest): Promise<readonly PathMove[]>;
}
