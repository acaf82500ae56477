/**
 * The forge of the remote: GitHub, GitLab, or one that Copse does not know. The remote's address tells which.
 *
 * Opening a pull request searches for an existing one first, so a repetition after a kill opens no second one. A refusal of the
 * forge is an outcome, with a sentence for a person and without credentials.
 */

import type { BranchName, CommitId, Timestamp } from '../kernel/ids.ts';
import type { ReviewVerdict } from './rules/pull-request.ts';

export interface PullRequestOrder {
  readonly branch: BranchName;
  readonly head: CommitId;
  readonly target: BranchName;
  readonly title: string;
  /** Markdown. */
  readonly body: string;
}

interface PullRequestSeen {
  readonly url: string;
  readonly number: number;
  /** The tip of its branch now: others may push to it. */
  readonly head: CommitId;
  readonly target: BranchName;
}

export type PullRequestFacts =
  | (PullRequestSeen & {
      readonly state: 'open';
      readonly review: ReviewVerdict;
      readonly hasConflict: boolean;
    })
  /** Null when the forge does not report the merge commit. */
  | (PullRequestSeen & { readonly state: 'merged'; readonly commit: CommitId | null })
  | (PullRequestSeen & { readonly state: 'closed'; readonly by: string | null });

export interface ForgeProblem {
  readonly because: 'not_authorised' | 'rate_limited' | 'unreachable' | 'not_found' | 'refused';
  readonly reason: string;
  /** When the limit resets, if the forge reports it. */
  readonly until: Timestamp | null;
}

export type BranchPushed =
  /** `hint`: the address that the remote names for opening a pull request. */
  | { readonly kind: 'pushed'; readonly hint: string | null }
  | {
      readonly kind: 'failed';
      readonly because: 'no_remote' | 'unreachable' | 'rejected';
      readonly reason: string;
    };

export type PullRequestLook =
  | { readonly kind: 'found'; readonly facts: PullRequestFacts }
  /** Copse cannot ask this forge: a person opens the pull request (at `hint`), or looks. */
  | { readonly kind: 'unknown'; readonly hint: string | null; readonly reason: string }
  | ({ readonly kind: 'failed' } & ForgeProblem);

export interface Forge {
  /** Pushes exactly this commit, never with force. Some forges open the pull request in answer to the push. */
  push(order: PullRequestOrder): Promise<BranchPushed>;
  /** Finds the branch's pull request, or opens one. The branch must be pushed. */
  open(order: PullRequestOrder, hint: string | null): Promise<PullRequestLook>;
  look(pullRequest: { readonly number: number; readonly url: string }): Promise<PullRequestLook>;
}

/** What a forge needs of git: the remote, at its accepted address, with the person's own credentials. */
export interface ForgeRemote {
  /** Without user name and password. */
  address(): { readonly address: string } | { readonly reason: string };
  push(
    branch: BranchName,
    commit: CommitId,
    options?: readonly string[],
  ): Promise<
    | { readonly kind: 'pushed'; readonly said: readonly string[] }
    | Extract<BranchPushed, { readonly kind: 'failed' }>
  >;
  /** The remote's refs that match a pattern; empty when it cannot be reached. */
  refs(pattern: string): Promise<ReadonlyMap<string, CommitId>>;
}
