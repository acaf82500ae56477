/**
 * Why a queued task cannot land yet although nothing is wrong with it. The board stores the reason as data;
 * explain/rules/queue.ts makes the sentence.
 */

import type { BranchName, CommitId, NodeId, TaskId } from '../../kernel/ids.ts';
import type { LoggedFault } from './check-fault.ts';
import type { TaskStatus } from '../../tasks/rules/task.ts';

export type WaitReason =
  | { readonly kind: 'dependency'; readonly task: TaskId; readonly status: TaskStatus }
  /** The queue accepts no new tasks. `comment`: what the person said who paused it. */
  | { readonly kind: 'not_accepted'; readonly comment: string | null }
  | { readonly kind: 'paused'; readonly comment: string | null }
  /** A person's checkout of the target has uncommitted changes in files that the landing changes. */
  | { readonly kind: 'checkout_changed'; readonly checkout: string; readonly files: readonly string[] }
  | { readonly kind: 'checkout_busy'; readonly checkout: string; readonly detail: string }
  | { readonly kind: 'push_failed'; readonly target: BranchName; readonly detail: string }
  | { readonly kind: 'remote_unreachable'; readonly detail: string }
  /** This leader lacks its commit, which a machine finished; null: unknown which. */
  | {
      readonly kind: 'head_missing';
      readonly head: CommitId;
      readonly node: NodeId | null;
      readonly detail: string;
    }
  | { readonly kind: 'target_missing'; readonly target: BranchName }
  | { readonly kind: 'target_diverged'; readonly target: BranchName; readonly remote: string }
  | { readonly kind: 'checks_unavailable'; readonly detail: string }
  /** The target fails its checks with nothing merged into it. Older boards name neither the target nor the check. */
  | { readonly kind: 'target_red'; readonly target?: BranchName; readonly failed?: LoggedFault }
  /** Landing it failed unexpectedly; it is retried. */
  | { readonly kind: 'landing_failed'; readonly detail: string }
  /** Landed together with others it failed, so they land one at a time. */
  | { readonly kind: 'one_at_a_time' }
  /** The leader failed, so nothing lands. */
  | { readonly kind: 'queue_failed'; readonly detail: string }
  | { readonly kind: 'no_slot' }
  | { readonly kind: 'nothing_to_check' }
  /** A sentence of a board from before reasons were data: shown as it is. */
  | { readonly kind: 'note'; readonly text: string };

/** Boards from before reasons were data hold a sentence. */
export type StoredWaitReason = WaitReason | string;

export function readWaitReason(stored: StoredWaitReason): WaitReason {
  return typeof stored === 'string' ? { kind: 'note', text: stored } : stored;
}

export function isSameWait(one: WaitReason | null, other: WaitReason | null): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
