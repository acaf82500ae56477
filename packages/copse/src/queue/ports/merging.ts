/**
 * Merges in the object store: no checkout, no hook, no driver. The same request gives the same commits, however often it is
 * repeated, so a request can be repeated after a kill.
 */

import type { BranchName, CommitId, TaskId, Timestamp } from '../../kernel/ids.ts';
import type { MergeMethod } from '../rules/landing.ts';

export interface CandidateRequest {
  readonly task: TaskId;
  readonly title: string;
  readonly plan: string | null;
  readonly branch: BranchName;
  readonly target: BranchName;
  /** The target's tip, on which the candidate is built. */
  readonly onto: CommitId;
  /** The submitted commit. */
  readonly head: CommitId;
  readonly method: MergeMethod;
  /** Committer date of all new commits, so that ids repeat. */
  readonly at: Timestamp;
}

export type Candidate =
  | {
      readonly kind: 'built';
      readonly commit: CommitId;
      readonly tree: string;
      /** How many commits the target gains; 0 when it already contains all of it. */
      readonly commits: number;
      /** For example that a branch was squashed instead of rebased. */
      readonly note: string | null;
    }
  | {
      readonly kind: 'conflict';
      readonly files: readonly string[];
      /** The other side: commits of the target, not of the task, that changed those files. */
      readonly theirs: readonly CommitId[];
    }
  /** A merge on the branch reverts changes that others landed. */
  | { readonly kind: 'reverts'; readonly files: readonly string[] }
  | { readonly kind: 'unrelated' }
  /** Some git could not check it out. Clauses, each about one file. */
  | { readonly kind: 'unfit'; readonly problems: readonly string[] };

/** A merge of a whole branch with the target that ended in conflict. */
export interface ConflictedMerge {
  readonly onto: CommitId;
  readonly head: CommitId;
  readonly files: readonly string[];
  /** With conflict markers. Only a git process with this environment finds it. */
  readonly tree: string;
  /** Objects written with it are dropped unless they become part of a candidate. */
  readonly env: Readonly<Record<string, string>>;
}

/** A resolved conflict. */
export interface Resolution {
  readonly tree: string;
  /** Files without a conflict that may differ from the merge because they were regenerated. */
  readonly files: readonly string[];
  /** For people: what resolved it. */
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
  | { readonly kind: 'moved' }
  | { readonly kind: 'changed'; readonly tip: CommitId | null }
  /** A checkout of the target has uncommitted changes in these files. */
  | {
      readonly kind: 'in_the_way';
      readonly checkout: string;
      readonly files: readonly string[];
    }
  | { readonly kind: 'busy'; readonly checkout: string; readonly reason: string };

export type TargetSettled =
  /** `left`: a sentence about files of the checkout that could not be put back. */
  | { readonly kind: 'settled'; readonly left: string | null }
  | { readonly kind: 'busy'; readonly checkout: string; readonly reason: string };

export type Pushed =
  | { readonly kind: 'pushed' }
  | {
      readonly kind: 'failed';
      /** `moved`: the remote's branch is not where it was expected. */
      readonly because: 'no_remote' | 'unreachable' | 'rejected' | 'moved';
      readonly reason: string;
    };

export interface Merging {
  /** Moves no ref and writes nothing to the repository: only this engine knows the candidate. */
  build(request: CandidateRequest): Promise<Candidate>;
  /**
   * Writes a candidate, and those it was built on, durably to the repository, before another program or a ref uses it.
   * `moveTarget` and `push` do so themselves.
   */
  bring(commit: CommitId): Promise<void>;
  /** Frees the memory of candidates that are not needed any more. One that is needed after all is built again. */
  drop(commits: readonly CommitId[]): Promise<void>;
  /** Whether the head could land on the tip, by default with a rebase. Writes nothing. */
  trial(
    onto: CommitId,
    head: CommitId,
    method?: MergeMethod,
  ): Promise<{ readonly conflicts: readonly string[]; readonly unfit: readonly string[] }>;
  /** What `git fsck` says against the new commits of each head; nothing about those that are sound. */
  examine(onto: CommitId, heads: readonly CommitId[]): Promise<ReadonlyMap<CommitId, string>>;
  treeOf(commit: CommitId): Promise<string>;
  /** The conflicts of a merge of the two. Writes nothing. */
  conflicts(
    onto: CommitId,
    head: CommitId,
    limits: { readonly files: number; readonly bytesPerFile: number },
  ): Promise<readonly FileConflict[]>;
  /** Newest first, at most `limit`, including merges of the target into the branch. */
  commits(notFrom: CommitId, from: CommitId, limit: number): Promise<readonly CommitSummary[]>;
  /**
   * From exactly `from` to exactly `to`: by compare-and-swap if the branch is not checked out, else together with the files of
   * that checkout, whose uncommitted changes are never overwritten.
   */
  moveTarget(request: {
    readonly target: BranchName;
    readonly from: CommitId;
    readonly to: CommitId;
    /** Changes nothing. */
    readonly isTrial?: boolean;
  }): Promise<TargetMove>;
  /** Ends an interrupted move in the checkouts of the target: finished where the target has moved, else taken back. */
  settleTarget(target: BranchName): Promise<TargetSettled>;
  /** Targets with such a move. */
  unsettledTargets(): readonly BranchName[];
  /** Pushes only forwards. With `from`, by compare-and-swap: the remote's branch is at exactly that commit, or absent (null). */
  push(branch: BranchName, commit: CommitId, from?: CommitId | null): Promise<Pushed>;
  /**
   * Commits all uncommitted changes of a worktree to the task's branch, for an agent that did not or cannot, and finishes a
   * merge. Runs no hook. Throws when HEAD of the worktree, which an agent can write, is not on that branch.
   */
  commitAll(worktree: string, branch: BranchName, message: string): Promise<CommitId | null>;
  /** Files of an unfinished merge that still have conflict markers. */
  unresolved(worktree: string): Promise<readonly string[]>;
}

// Resolving conflicts without an agent: by commands of copse.yml, or as the same conflict was resolved before.

/** `head` is merged into `onto`. */
export type Ends = Pick<ConflictedMerge, 'onto' | 'head'>;

/** A branch that landed: the target before, and where the branch began, if that is known. */
export interface LandedBranch extends Ends {
  readonly base?: CommitId | null;
}

export interface Resolving {
  /** Undefined unless every file could be resolved. */
  resolve(conflict: ConflictedMerge): Promise<Resolution | undefined>;
  /** Whether each file in conflict has a way to try. */
  mayResolve(conflict: Ends): Promise<boolean>;
  /** Failed attempts to resolve a conflict: sentences with the end of the output. */
  tried(conflict: Ends): readonly string[];
  /** The other side: commits of the target, not of the branch, that changed one of these files; newest first. */
  otherSide(conflict: Ends, files: readonly string[], limit: number): Promise<readonly CommitSummary[]>;
  /**
   * Remembers how merges of a landed branch resolved their conflicts; rejected branches are no example. The paths it
   * learned from, for people.
   */
  learn(landed: LandedBranch): Promise<readonly string[]>;
}

// Reverting a landing. The same request gives the same commit, however often it is repeated.

export interface RevertRequest {
  /** The undo task, which the commit names. */
  readonly task: TaskId;
  /** The task that landed, and its title. */
  readonly reverts: TaskId;
  readonly title: string;
  /** The last commit of the landing on the target. */
  readonly landed: CommitId;
  /** The last commits of all other landings on the target: this landing ends before the next of them. */
  readonly others: ReadonlySet<CommitId>;
  /** The target's tip, on which the commit is built. */
  readonly onto: CommitId;
  readonly at: Timestamp;
  /** Leaves nothing behind. */
  readonly isTrial?: boolean;
}

export type Reverted =
  | {
      readonly kind: 'reverted';
      readonly commit: CommitId;
      /** The commit that the landing was built on. */
      readonly before: CommitId;
      /** The commits of the landing, newest first. */
      readonly commits: readonly CommitSummary[];
    }
  /** Later commits of the target build on it. */
  | {
      readonly kind: 'conflict';
      readonly files: readonly string[];
      readonly later: readonly CommitSummary[];
    }
  /** The target does not contain it: its history was rewritten, or the target is another branch now. */
  | { readonly kind: 'not_there' }
  /** The target contained all of it before. */
  | { readonly kind: 'brought_nothing' }
  /** Later commits already removed all of its changes. */
  | { readonly kind: 'nothing_left' };

export interface Reverting {
  revert(request: RevertRequest): Promise<Reverted>;
}
