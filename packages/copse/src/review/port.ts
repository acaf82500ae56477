/**
 * The place where the remote's pull requests are: GitHub, GitLab, or nothing that Copse knows. Which one, is seen from the
 * remote's address.
 *
 * Whoever opens a pull request asks for the one that is there first, so asking again after a kill opens no second one. What
 * the place refuses is an outcome, with a sentence for a person that has no credential in it.
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
  /** Where its branch is now: others may push to it. */
  readonly head: CommitId;
  readonly target: BranchName;
}

export type PullRequestFacts =
  | (PullRequestSeen & {
      readonly state: 'open';
      readonly review: ReviewVerdict;
      readonly hasConflict: boolean;
    })
  /** Null where the place does not say which commit it became. */
  | (PullRequestSeen & { readonly state: 'merged'; readonly commit: CommitId | null })
  | (PullRequestSeen & { readonly state: 'closed'; readonly by: string | null });

export interface ForgeProblem {
  readonly because: 'not_authorised' | 'rate_limited' | 'unreachable' | 'not_found' | 'refused';
  readonly reason: string;
  /** When a limit lifts, if that was said. */
  readonly until: Timestamp | null;
}

export type BranchPushed =
  /** `hint`: where the remote says that a person can open one. */
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
  /** Exactly this commit, never by force. Some places open the pull request in answer to it. */
  push(order: PullRequestOrder): Promise<BranchPushed>;
  /** The one that is there for the branch, or a new one. The branch has been pushed. */
  open(order: PullRequestOrder, hint: string | null): Promise<PullRequestLook>;
  look(pullRequest: { readonly number: number; readonly url: string }): Promise<PullRequestLook>;
}

/** What a forge needs of git: the remote, at the address that was accepted, with a person's own credentials. */
export interface ForgeRemote {
  /** Without a name or a password. */
  address(): { readonly address: string } | { readonly reason: string };
  push(
    branch: BranchName,
    commit: CommitId,
    options?: readonly string[],
  ): Promise<
    | { readonly kind: 'pushed'; readonly said: readonly string[] }
    | Extract<BranchPushed, { readonly kind: 'failed' }>
  >;
  /** The remote's refs that fit a pattern; empty when it cannot be asked. */
  refs(pattern: string): Promise<ReadonlyMap<string, CommitId>>;
}
