/** Taking back what landed, in the object store. The same request gives the same commit, however often it is repeated. */

import type { CommitId, TaskId, Timestamp } from '../../kernel/ids.ts';
import type { CommitSummary } from './merging.ts';

export interface RevertRequest {
  /** The task that takes it back, which the commit names. */
  readonly task: TaskId;
  /** The task that landed, and its title. */
  readonly reverts: TaskId;
  readonly title: string;
  /** What it became on the target: the last of its commits there. */
  readonly landed: CommitId;
  /** Where every other landing on the target ended: no commit of this one lies beyond one of these. */
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
      /** What the landing was built on. */
      readonly before: CommitId;
      /** What the landing brought, the newest first. */
      readonly commits: readonly CommitSummary[];
    }
  /** Later commits of the target build on it. */
  | {
      readonly reverted: false;
      readonly because: 'conflict';
      readonly files: readonly string[];
      readonly later: readonly CommitSummary[];
    }
  /** The target does not have it: somebody took it out, or it is another target by now. */
  | { readonly reverted: false; readonly because: 'not_there' }
  /** The target had all of it before. */
  | { readonly reverted: false; readonly because: 'brought_nothing' }
  /** Nothing of it is left on the target. */
  | { readonly reverted: false; readonly because: 'nothing_left' };

export interface Reverting {
  revert(request: RevertRequest): Promise<Reverted>;
}
