/** Reverts a landing in the object store. The same request gives the same commit, however often it is repeated. */

import type { CommitId, TaskId, Timestamp } from '../../kernel/ids.ts';
import type { CommitSummary } from './merging.ts';

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
      readonly reverted: true;
      readonly commit: CommitId;
      /** The commit that the landing was built on. */
      readonly before: CommitId;
      /** The commits of the landing, newest first. */
      readonly commits: readonly CommitSummary[];
    }
  /** Later commits of the target build on it. */
  | {
      readonly reverted: false;
      readonly because: 'conflict';
      readonly files: readonly string[];
      readonly later: readonly CommitSummary[];
    }
  /** The target does not contain it: its history was rewritten, or the target is another branch now. */
  | { readonly reverted: false; readonly because: 'not_there' }
  /** The target contained all of it before. */
  | { readonly reverted: false; readonly because: 'brought_nothing' }
  /** Later commits already removed all of its changes. */
  | { readonly reverted: false; readonly because: 'nothing_left' };

export interface Reverting {
  revert(request: RevertRequest): Promise<Reverted>;
}
