/**
 * The place where the remote's pull requests are: GitHub, GitLab, or nothing that Copse knows. Which one, is seen from the
 * remote's address.
 *
 * Whoever opens a pull request asks for the one that is there first, so asking again after a kill opens no second one. What
 * the place refuses is an outcome, with a sentence for a person that has no credential in it.
 */

import type { BranchName, CommitId, Timestamp } from '../kernel/ids.ts';
import type { Review } from './rules/pull-request.ts';

export interface PullRequestOrder {
  readonly branch: BranchName;
  readonly head: CommitId;
  readonly target: BranchName;
  readonly title: string;
  /** Markdown. */
  readonly body: string;
}

interface Seen {
  readonly url: string;
  readonly number: number;
  /** Where its branch is now: others may push to it. */
  readonly head: CommitId;
  readonly target: BranchName;
}

export type PullRequestFacts =
  | (Seen & { readonly state: 'open'; readonly review: Review; readonly hasConflict: boolean })
  /** Null where the place does not say which commit it became. */
  | (Seen & { readonly state: 'merged'; readonly commit: CommitId | null })
  | (Seen & { readonly state: 'closed'; readonly by: string | null });

export interface ForgeProblem {
  readonly because: 'not_authorised' | 'rate_limited' | 'unreachable' | 'not_found' | 'refused';
  readonly reason: string;
  /** When a limit lifts, if that was said. */
  readonly until: Timestamp | null;
}

export type BranchPushed =
  /** `hint`: where the remote says that a person can open one. */
  | { readonly pushed: true; readonly hint: string | null }
  | {
      readonly pushed: false;
      readonly because: 'no_remote' | 'unreachable' | 'rejected';
      readonly reason: string;
    };

/** `unknown`: nothing here can say, and a person has to do it or to look. */
export type Looked =
  | { readonly found: true; readonly facts: PullRequestFacts }
  | {
      readonly found: false;
      readonly because: 'unknown';
      readonly hint: string | null;
      readonly reason: string;
    }
  | ({ readonly found: false } & ForgeProblem);

export interface Forge {
  /** Exactly this commit, never by force. Some places open the pull request in answer to it. */
  push(order: PullRequestOrder): Promise<BranchPushed>;
  /** The one that is there for the branch, or a new one. The branch has been pushed. */
  open(order: PullRequestOrder, hint: string | null): Promise<Looked>;
  look(pullRequest: { readonly number: number; readonly url: string }): Promise<Looked>;
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
    | { readonly pushed: true; readonly said: readonly string[] }
    | Extract<BranchPushed, { readonly pushed: false }>
  >;
  /** The remote's refs that fit a pattern; empty when it cannot be asked. */
  refs(pattern: string): Promise<ReadonlyMap<string, CommitId>>;
}
