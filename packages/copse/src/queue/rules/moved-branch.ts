/**
 * What becomes of a task in the queue whose branch is not where it was when it was queued.
 *
 * What lands is what was submitted, and what was reviewed is what lands. So a branch that moved is submitted anew: at its
 * place in the queue where nobody has to look, and with whoever reviews where somebody has to.
 */

import type { CommitId } from '../../kernel/ids.ts';

export interface BranchFacts {
  /** What was queued. */
  readonly head: CommitId;
  /** Where the branch is now; null when it was deleted. */
  readonly tip: CommitId | null;
  /** Null when there is none that could be looked at. */
  readonly worktree: {
    readonly head: CommitId;
    readonly isOnBranch: boolean;
    /** Nothing uncommitted, and nothing that is not finished. */
    readonly isClean: boolean;
  } | null;
  /** The repository still has what was queued. */
  readonly isHeadThere: boolean;
  /** The branch has nothing that the target does not have. */
  readonly isEmpty: boolean;
  /** Somebody has to look at it before it lands: they looked at this one, or all work here is reviewed. */
  readonly mustBeReviewed: boolean;
}

export type MovedBranch =
  | { readonly kind: 'unmoved' }
  /** The branch is gone, and what was queued is not: it lands, and must not get lost before. */
  | { readonly kind: 'deleted' }
  | { readonly kind: 'lost'; readonly reason: string }
  | { readonly kind: 'requeued'; readonly head: CommitId; readonly reason: string }
  | { readonly kind: 'for_review'; readonly head: CommitId; readonly reason: string };

export function decideMovedBranch(facts: BranchFacts): MovedBranch {
  const { head, tip, worktree } = facts;
  // An agent may have committed on another branch, or on none: what its worktree has is what it submitted.
  if (tip === head || worktree?.head === head) return { kind: 'unmoved' };
  if (tip === null && worktree === null) {
    if (facts.isHeadThere) return { kind: 'deleted' };
    return {
      kind: 'lost',
      reason: 'Its branch was deleted, and its commits are not in the repository any more.',
    };
  }
  const now = worktree !== null && !worktree.isOnBranch ? null : tip;
  if (now === null) {
    const seen = worktree?.head ?? tip ?? head;
    const reason =
      'Its worktree is at another branch than the one that was queued, so it is not clear what is to land.';
    return { kind: 'for_review', head: seen, reason };
  }
  if (facts.isEmpty)
    return { kind: 'for_review', head: now, reason: 'Its branch was moved back and has nothing to land.' };
  const moved = `Its branch moved from ${short(head)} to ${short(now)}`;
  if (facts.mustBeReviewed) {
    return {
      kind: 'for_review',
      head: now,
      reason: `${moved} after it was approved, so it has to be reviewed again.`,
    };
  }
  if (worktree !== null && !worktree.isClean) {
    const reason = `${moved} while it was queued, and its worktree has changes that are not committed: commit them, or take them back.`;
    return { kind: 'for_review', head: now, reason };
  }
  return { kind: 'requeued', head: now, reason: `${moved} while it was queued.` };
}

function short(commit: CommitId): string {
  return commit.slice(0, 10);
}
