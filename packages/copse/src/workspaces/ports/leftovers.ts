/** What tasks and killed processes leave in `.copse` and under `refs/copse`. */

import type { BranchName, CommitId, TaskId, Timestamp } from '../../kernel/ids.ts';

export interface KeepRef {
  readonly ref: string;
  readonly commit: CommitId;
  readonly task: TaskId;
  /** The branch that was asked about contains the commit. */
  readonly isMerged: boolean;
}

export interface TaskLeftovers {
  /** Deletes scratch folders of processes that are gone. Returns why others could not be deleted. */
  deleteScratch(now: Timestamp): Promise<readonly string[]>;
  /** Folders with the logs or patches of a task, the latest change first. */
  logs(): readonly { readonly folder: string; readonly task: TaskId; readonly at: Timestamp }[];
  /** Returns why it could not be deleted, if so. */
  deleteLogs(folder: string): Promise<readonly string[]>;
  /** Tasks that have a lock file. */
  locks(): readonly TaskId[];
  /** Deletes the lock file, unless a process holds it, and the record of a set-up whose worktree is gone. */
  deleteLock(task: TaskId): Promise<void>;
  /** Refs that keep the tips of branches, oldest first. */
  kept(branch: BranchName): Promise<readonly KeepRef[]>;
  /** Deletes those that are still at their commit. */
  dropKept(refs: readonly KeepRef[]): Promise<void>;
}
