/**
 * The pull request of a task that is in review, as far as the board knows it.
 *
 *   wanted → open → merged, and the task is done
 *          │      ⇄ closed without being merged: a person decides, and it may be opened again
 *          ├→ pushed: nothing here can open one. Once its target has all of it, the task is done
 *          └→ given_up: it could not be pushed or opened, and a person was told
 *
 * It is wanted in the transaction that ends the attempt, and opened afterwards: whoever is killed in between leaves a wish
 * that the next look fulfils. Merged is not among these: it is how the task is done.
 */

import { unreachable } from '../../kernel/unreachable.ts';
import type { BranchName } from '../../kernel/ids.ts';

export type Review = 'none' | 'approved' | 'changes_requested';

interface Of {
  /** Where it was pushed to, and what it is to be merged into. */
  readonly branch: BranchName;
  readonly target: BranchName;
  /** What a person should know: why it waits, or that somebody else pushed to it. */
  readonly note: string | null;
}

interface Known {
  readonly url: string;
  readonly number: number;
}

export type PullRequest =
  /** With what the agent said that it did. Push only: somebody else decides what becomes of the branch. */
  | (Of & { readonly is: 'wanted'; readonly summary: string | null; readonly isPushOnly?: true })
  | (Of & { readonly is: 'given_up' })
  /** The address is one where a person can open it, if the remote named one. */
  | (Of & { readonly is: 'pushed'; readonly url: string | null; readonly isPushOnly?: true })
  | (Of & Known & { readonly is: 'open'; readonly review: Review; readonly hasConflict: boolean })
  | (Of & Known & { readonly is: 'closed'; readonly by: string | null });

export function isSame(one: PullRequest, other: PullRequest): boolean {
  const sorted = (of: PullRequest) =>
    JSON.stringify(Object.entries(of).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return sorted(one) === sorted(other);
}

/** The address is a thing of its own for programs. */
export function addressOf(pullRequest: PullRequest | null): string | null {
  return pullRequest !== null && 'url' in pullRequest ? pullRequest.url : null;
}

/** One line for lists. */
export function summarise(pullRequest: PullRequest): string {
  switch (pullRequest.is) {
    case 'wanted':
      return (
        pullRequest.note ??
        (pullRequest.isPushOnly ? 'it is about to be pushed' : 'its pull request is about to be opened')
      );
    case 'given_up':
      return `no pull request: ${pullRequest.note ?? 'it could not be opened'}`;
    case 'pushed':
      return `pushed as ${pullRequest.branch}${pullRequest.url === null ? '' : `; open a pull request: ${pullRequest.url}`}`;
    case 'open':
      return `pull request ${pullRequest.url}${words(pullRequest)}`;
    case 'closed':
      return `pull request ${pullRequest.url} was closed without being merged`;
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

/** Why the task is where it is: the first sentence answers, the rest is detail. */
export function explain(pullRequest: PullRequest): readonly string[] {
  const { target, branch, note } = pullRequest;
  const noted = note === null ? [] : [note];
  switch (pullRequest.is) {
    case 'wanted': {
      const [will, could] = pullRequest.isPushOnly
        ? ['pushes it', 'it could not be pushed yet']
        : ['pushes it and opens its pull request', 'its pull request could not be opened yet'];
      return note === null
        ? [`It is finished. An orchestrator ${will} at its next look.`]
        : [`It is finished, and ${could}; an orchestrator tries again.`, note];
    }
    case 'given_up':
      return [
        'It is finished and waits for a person; it could not be pushed, or has no pull request.',
        ...noted,
      ];
    case 'pushed':
      return [
        `It is finished and pushed as ${branch}; it is done as soon as ${target} of the remote has it.`,
        ...noted,
        ...(pullRequest.url === null ? [] : [`A pull request can be opened at ${pullRequest.url}`]),
      ];
    case 'open':
      return [
        `It is finished and waits for its pull request to be merged into ${target}: ${pullRequest.url}`,
        ...(pullRequest.review === 'approved' ? ['It was approved.'] : []),
        ...(pullRequest.review === 'changes_requested'
          ? ['Changes were requested: resume it with what is to change.']
          : []),
        ...(pullRequest.hasConflict ? [`It conflicts with ${target}.`] : []),
        ...noted,
      ];
    case 'closed':
      return [
        `Its pull request was closed without being merged${pullRequest.by === null ? '' : ` by ${pullRequest.by}`}: ${pullRequest.url}`,
        'Its work is kept. Opened again there, it is followed as before.',
        ...noted,
      ];
    default:
      return unreachable(pullRequest);
  }
}
