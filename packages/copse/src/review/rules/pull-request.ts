/**
 * The pull request of a task in review, as recorded on the board.
 *
 *   wanted → open → merged: the task is done
 *          │      ⇄ closed without a merge: a person decides, and may reopen it
 *          ├→ pushed: Copse cannot open one. The task is done once its target contains the work
 *          └→ given_up: it could not be pushed or opened, and a person was told
 *
 * The transaction that ends the attempt records it as wanted; an orchestrator opens it afterwards, also after a kill in between.
 * There is no state `merged`: a merged pull request makes the task done.
 */

import { unreachable } from '../../kernel/unreachable.ts';
import type { BranchName } from '../../kernel/ids.ts';

/** Forges that Copse speaks to; a remote of kind `none` can only be pushed to. */
export const forgeKinds = ['github', 'gitlab', 'none'] as const;
export type ForgeKind = (typeof forgeKinds)[number];

export type ReviewVerdict = 'none' | 'approved' | 'changes_requested';

interface Of {
  /** The pushed branch, and the branch to merge it into. */
  readonly branch: BranchName;
  readonly target: BranchName;
  /** For a person: why it waits, or that another person pushed to it. */
  readonly note: string | null;
}

interface PullRequestAddress {
  readonly url: string;
  readonly number: number;
}

export type PullRequest =
  /** With the agent's summary. Push only: no pull request is opened. */
  | (Of & { readonly is: 'wanted'; readonly summary: string | null; readonly isPushOnly?: true })
  | (Of & { readonly is: 'given_up' })
  /** The address where a person can open one, if the remote named it. */
  | (Of & { readonly is: 'pushed'; readonly url: string | null; readonly isPushOnly?: true })
  | (Of &
      PullRequestAddress & {
        readonly is: 'open';
        readonly review: ReviewVerdict;
        readonly hasConflict: boolean;
      })
  | (Of & PullRequestAddress & { readonly is: 'closed'; readonly by: string | null });

export function isSame(one: PullRequest, other: PullRequest): boolean {
  const sorted = (of: PullRequest) =>
    JSON.stringify(Object.entries(of).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return sorted(one) === sorted(other);
}

/** The address alone, for programs. */
export function addressOf(pullRequest: PullRequest | null): string | null {
  return pullRequest !== null && 'url' in pullRequest ? pullRequest.url : null;
}

/** One line for lists. */
export function summarise(pullRequest: PullRequest): string {
  switch (pullRequest.is) {
    case 'wanted': {
      const { note, isPushOnly } = pullRequest;
      if (note === null)
        return isPushOnly ? 'waiting to be pushed' : 'waiting for its pull request to be opened';
      return `${isPushOnly ? 'not pushed yet' : 'no pull request yet'}: ${note}`;
    }
    case 'given_up':
      return `no pull request: ${pullRequest.note ?? 'it could not be opened'}`;
    case 'pushed':
      return `pushed as ${pullRequest.branch}${pullRequest.url === null ? '' : `; open a pull request: ${pullRequest.url}`}`;
    case 'open':
      return `pull request ${pullRequest.url}${words(pullRequest)}`;
    case 'closed':
      return `pull request ${pullRequest.url} was closed without a merge`;
    default:
      return unreachable(pullRequest);
  }
}

function words({ review, hasConflict, note }: Extract<PullRequest, { is: 'open' }>): string {
  const said = [
    ...(review === 'none' ? [] : [review.replaceAll('_', ' ')]),
    ...(hasConflict ? ['conflicts'] : []),
    ...(note === null ? [] : [note]),
  ];
  return said.length === 0 ? '' : ` (${said.join('; ')})`;
}

/** Why the task is in review: the first sentence answers, the rest is detail. */
export function explain(pullRequest: PullRequest): readonly string[] {
  const { target, branch, note } = pullRequest;
  const noted = note === null ? [] : [note];
  switch (pullRequest.is) {
    case 'wanted': {
      const [will, could] = pullRequest.isPushOnly
        ? ['pushes it', 'it could not be pushed yet']
        : ['pushes it and opens its pull request', 'its pull request could not be opened yet'];
      return note === null
        ? [`It is finished. The orchestrator ${will} next.`]
        : [`It is finished, but ${could}; the orchestrator retries.`, note];
    }
    case 'given_up':
      return [
        'It is finished and needs you: it could not be pushed, or its pull request could not be opened.',
        ...noted,
      ];
    case 'pushed':
      return [
        `It is finished and pushed as ${branch}; it is done once the remote's ${target} contains it.`,
        ...noted,
        ...(pullRequest.url === null ? [] : [`Open a pull request: ${pullRequest.url}`]),
      ];
    case 'open':
      return [
        `It is finished and waits until its pull request is merged into ${target}: ${pullRequest.url}`,
        ...(pullRequest.review === 'approved' ? ['It was approved.'] : []),
        ...(pullRequest.review === 'changes_requested'
          ? ['Changes were requested: resume it with the requested changes.']
          : []),
        ...(pullRequest.hasConflict ? [`It conflicts with ${target}.`] : []),
        ...noted,
      ];
    case 'closed':
      return [
        `Its pull request was closed without a merge${pullRequest.by === null ? '' : ` by ${pullRequest.by}`}: ${pullRequest.url}`,
        'Copse removed nothing of it. If it is reopened there, Copse follows it again.',
        ...noted,
      ];
    default:
      return unreachable(pullRequest);
  }
}
