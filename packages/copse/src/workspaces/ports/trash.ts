/** Where removed worktrees wait before they are gone for good. */

import { type BranchName, type CommitId, type TaskId, type Timestamp, brand } from '../../kernel/ids.ts';

/** Stands for the task of a worktree in which the queue ran its checks: nobody works there. */
export const queueAsTask = brand<TaskId>('queue');

/** `leftover`: a checkout that was never finished, so there is nothing in it that anybody would want back. */
type TrashReason = 'removal' | 'reset' | 'broken' | 'leftover' | 'undo';

export interface TrashRecord {
  readonly task: TaskId;
  /** Where the worktree was. */
  readonly path: string;
  readonly branch: BranchName | null;
  /** Undoing makes the branch again here if it is gone. */
  readonly branchTip: CommitId | null;
  readonly head: CommitId | null;
  readonly base: CommitId | null;
  /** The snapshot that was taken first, if there was anything to save. */
  readonly rescue: string | null;
  readonly at: Timestamp;
  readonly why: TrashReason;
}

/** A file of a commit that a ref keeps. */
export interface HeldFile {
  /** As git has it: bytes, relative, with slashes. */
  readonly path: Buffer;
  readonly mode: string;
  readonly id: string;
}

export interface TrashEntry {
  readonly folder: string;
  readonly record: TrashRecord;
  /** Where the two are, or would be; they need not exist. */
  readonly files: string;
  readonly gitDir: string;
  /** Where the git directory was. */
  readonly gitDirWas: string | null;
  /** It was undone and only waits to be deleted. */
  readonly isRetired: boolean;
  /** What git holds has been deleted from it. */
  readonly isThin: boolean;
  /** An undo of it has begun. */
  readonly isBegun: boolean;
  /** It was to be deleted, and is the only place that has what is in repositories inside it. */
  readonly isKept: boolean;
}

type TrashDeletion =
  | { readonly kind: 'deleted' }
  | { readonly kind: 'kept'; readonly repositories: readonly string[] };

export interface Trash {
  /**
   * Two renames: the worktree's folder and what git keeps about it. Repeating it after a crash finishes it. Throws when
   * something else is at the path now or the system refuses; what was there still is.
   */
  put(removed: {
    readonly path: string;
    readonly gitDir: string | null;
    readonly record: TrashRecord;
  }): Promise<TrashEntry>;
  /** What can be brought back, newest first. */
  list(): Promise<readonly TrashEntry[]>;
  /** Everything there is, what was undone and what was never finished included. */
  all(): Promise<readonly TrashEntry[]>;
  /** Moves what is left back into a worktree, and the repositories of its submodules, never over anything. */
  bringBack(
    entry: TrashEntry,
    worktree: string,
    gitDir: string | null,
  ): Promise<{ readonly inTheWay: readonly string[] }>;
  /** Deletes the files that git holds, byte for byte, and nothing else. */
  thin(entry: TrashEntry, held: Iterable<HeldFile>): Promise<void>;
  /** For good, unless repositories are in it that somebody may have worked in: then it stays, and is marked as kept. */
  delete(entry: TrashEntry): Promise<TrashDeletion>;
  /** Its undo has cleared the way: a worktree that is at its place from now on is the one that the undo made. */
  begin(entry: TrashEntry): Promise<void>;
  /** It was undone: no longer listed, deleted with the rest. */
  retire(entry: TrashEntry): Promise<void>;
}
