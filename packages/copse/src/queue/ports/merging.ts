/**
 * Merging in the object store: no checkout, no hook, no driver. The same request gives the same commits, however often it
 * is repeated, so whoever was killed may simply ask again.
 */

import type { BranchName, CommitId, TaskId, Timestamp } from '../../kernel/ids.ts';

export const mergeMethods = ['rebase', 'merge', 'squash'] as const;
export type MergeMethod = (typeof mergeMethods)[number];

export interface CandidateRequest {
  readonly task: TaskId;
  readonly title: string;
  readonly plan: string | null;
  readonly branch: BranchName;
  readonly target: BranchName;
  /** The target's tip, on which the candidate is built. */
  readonly onto: CommitId;
  /** What the task submitted. */
  readonly head: CommitId;
  readonly method: MergeMethod;
  /** The committer's date of everything that is made, so that ids repeat. */
  readonly at: Timestamp;
}

export type Candidate =
  | {
      readonly built: true;
      readonly commit: CommitId;
      readonly tree: string;
      /** How many commits the target gains; 0 when it has all of it already. */
      readonly commits: number;
      /** For example that a branch with merges was not rebased but merged. */
      readonly note: string | null;
    }
  | {
      readonly built: false;
      readonly because: 'conflict';
      readonly files: readonly string[];
      /** Commits of the target, not of the task, that changed those files: the other side. */
      readonly theirs: readonly CommitId[];
    }
  /** Merges of the branch that take back what others landed. */
  | { readonly built: false; readonly because: 'reverts'; readonly files: readonly string[] }
  | { readonly built: false; readonly because: 'unrelated' };

/** A merge of a whole branch with the target that git left in conflict. */
export interface ConflictedMerge {
  readonly onto: CommitId;
  readonly head: CommitId;
  readonly files: readonly string[];
  /** With conflict markers in it. It is in no repository: only a git with this environment finds it. */
  readonly tree: string;
  /** What is written with it is thrown away, unless it becomes part of a candidate. */
  readonly env: Readonly<Record<string, string>>;
}

/** What becomes of it. */
export interface Resolution {
  readonly tree: string;
  /** Besides those in conflict, what may differ from the merge: files that were generated anew. */
  readonly files: readonly string[];
  /** For people: who or what resolved it. */
  readonly note: string;
}

export interface FileConflict {
  readonly file: string;
  /** In git's words, such as `contents` or `modify/delete`. */
  readonly kind: string;
  /** Git's sentence about it. */
  readonly message: string;
  /** The lines that both sides changed, with markers; null where there are none to show. */
  readonly hunks: string | null;
}

export interface CommitSummary {
  readonly id: CommitId;
  readonly subject: string;
  readonly body: string;
  readonly isMerge: boolean;
}

export type TargetMove =
  | { readonly moved: true }
  | { readonly moved: false; readonly because: 'changed'; readonly tip: CommitId | null }
  /** Somebody has the target checked out and changed these files. */
  | {
      readonly moved: false;
      readonly because: 'in_the_way';
      readonly checkout: string;
      readonly files: readonly string[];
    }
  | { readonly moved: false; readonly because: 'busy'; readonly checkout: string; readonly reason: string };

export type Pushed =
  | { readonly pushed: true }
  | {
      readonly pushed: false;
      readonly because: 'no_remote' | 'unreachable' | 'rejected';
      readonly reason: string;
    };

export interface Merging {
  /** Moves nothing, and leaves nothing in the repository: nobody but this engine knows a candidate yet. */
  build(request: CandidateRequest): Promise<Candidate>;
  /**
   * Brings a candidate, and those that it was built on, into the repository and on the disk for good: before another program or
   * a ref can have it. Moving the target and pushing do so themselves.
   */
  bring(commit: CommitId): Promise<void>;
  /** Whether the head could land on the tip right now, by rebasing unless said otherwise; leaves nothing behind. */
  trial(
    onto: CommitId,
    head: CommitId,
    method?: MergeMethod,
  ): Promise<{ readonly conflicts: readonly string[] }>;
  treeOf(commit: CommitId): Promise<string>;
  /** What a merge of the two conflicts in; leaves nothing behind. */
  conflicts(
    onto: CommitId,
    head: CommitId,
    limits: { readonly files: number; readonly bytesPerFile: number },
  ): Promise<readonly FileConflict[]>;
  /** Newest first, at most `limit`; merges of the target into the branch are among them. */
  commits(notFrom: CommitId, from: CommitId, limit: number): Promise<readonly CommitSummary[]>;
  /**
   * From exactly `from` to exactly `to`: by compare-and-swap where nobody has the branch checked out, else together with the
   * files of that checkout, which are never overwritten.
   */
  moveTarget(request: {
    readonly target: BranchName;
    readonly from: CommitId;
    readonly to: CommitId;
    /** Only says what would happen. */
    readonly isTrial?: boolean;
  }): Promise<TargetMove>;
  /** Pushes without force. */
  push(branch: BranchName, commit: CommitId): Promise<Pushed>;
  /**
   * Commits everything that is uncommitted in a worktree, for an agent that did not or cannot, and finishes a merge with
   * it. Runs no hook.
   */
  commitAll(worktree: string, message: string): Promise<CommitId | null>;
  /** Files of a merge that is not finished that still have conflict markers. */
  unresolved(worktree: string): Promise<readonly string[]>;
}
