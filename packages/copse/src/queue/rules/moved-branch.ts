/**
 * What happens to a queued task whose branch has moved since it was queued.
 *
 * Only submitted commits land, and where work is reviewed, only reviewed ones. A branch that moved is submitted again: at
 * the same place in the queue, or back to review where a person must look.
 */

import type { CommitId } from '../../kernel/ids.ts';

export interface BranchFacts {
  /** The queued commit. */
  readonly head: CommitId;
  /** The tip of the branch; null when it was deleted. */
  readonly tip: CommitId | null;
  /** Null when there is none, or it cannot be read. */
  readonly worktree: {
    readonly head: CommitId;
    readonly isOnBranch: boolean;
    /** No uncommitted changes, and no unfinished merge or rebase. */
    readonly isClean: boolean;
  } | null;
  /** The repository still has the queued commit. */
  readonly isHeadThere: boolean;
  /** The target contains the branch. */
  readonly isEmpty: boolean;
  /** The queued commit was reviewed, or all work here is. */
  readonly mustBeReviewed: boolean;
}

export type MovedBranch =
  | { readonly kind: 'unmoved' }
  /** The branch is deleted, the queued commit is not: it lands, and is kept until then. */
  | { readonly kind: 'deleted' }
  | { readonly kind: 'lost'; readonly reason: string }
  | { readonly kind: 'requeued'; readonly head: CommitId; readonly reason: string }
  | { readonly kind: 'for_review'; readonly head: CommitId; readonly reason: string };

export function decideMovedBranch(facts: BranchFacts): MovedBranch {
  const { head, tip, worktree } = facts;
  // An agent may have committed on another branch or on a detached HEAD: it submitted the HEAD of its worktree.
  if (tip === head || worktree?.head === head) return { kind: 'unmoved' };
  if (tip === null && worktree === null) {
    if (facts.isHeadThere) return { kind: 'deleted' };
    return {
      kind: 'lost',
      reason: 'Its branch was deleted, and the repository no longer has its commits.',
    };
  }
  const now = worktree !== null && !worktree.isOnBranch ? null : tip;
  if (now === null) {
    const seen = worktree?.head ?? tip ?? head;
    const reason =
      'Its worktree is on another branch than the queued one, so it is unclear which commits should land.';
    return { kind: 'for_review', head: seen, reason };
  }
  if (facts.isEmpty)
    return { kind: 'for_review', head: now, reason: 'Its branch was moved back and has no commit to land.' };
  const moved = `Its branch moved from ${short(head)} to ${short(now)}`;
  if (facts.mustBeReviewed) {
    return {
      kind: 'for_review',
      head: now,
      reason: `${moved} after its review, so it must be reviewed again.`,
    };
  }
  if (worktree !== null && !worktree.isClean) {
    const reason = `${moved} while it was queued, and its worktree has uncommitted changes: commit or discard them.`;
    return { kind: 'for_review', head: now, reason };
  }
  return { kind: 'requeued', head: now, reason: `${moved} while it was queued.` };
}

function short(commit: CommitId): string {
  return commit.slice(0, 10);
}
