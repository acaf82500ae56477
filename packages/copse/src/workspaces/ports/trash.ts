/** Where removed worktrees are kept before they are deleted. */

import { type BranchName, type CommitId, type TaskId, type Timestamp, brand } from '../../kernel/ids.ts';

/** Stands for the task of a worktree in which the queue runs its checks. */
export const queueAsTask = brand<TaskId>('queue');

/** `leftover`: a checkout that was never finished, so it holds no work. */
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
  /** The files that git holds have been deleted from it. */
  readonly isThin: boolean;
  /** An undo of it has begun. */
  readonly isBegun: boolean;
  /** It is old enough to be deleted, but repositories inside it may hold work that is nowhere else. */
  readonly isKept: boolean;
}

type TrashDeletion =
  | { readonly kind: 'deleted' }
  | { readonly kind: 'kept'; readonly repositories: readonly string[] };

export interface Trash {
  /**
   * Two renames: the worktree's folder and what git keeps about it. Repeating it after a crash finishes it. Throws when
   * another file is at the path or the system refuses; then nothing was moved.
   */
  put(removed: {
    readonly path: string;
    readonly gitDir: string | null;
    readonly record: TrashRecord;
  }): Promise<TrashEntry>;
  /** Entries that can be restored, newest first. */
  list(): Promise<readonly TrashEntry[]>;
  /** All entries, also undone and unfinished ones. */
  all(): Promise<readonly TrashEntry[]>;
  /** The entry in this folder as it is now; undefined when it was deleted. */
  again(folder: string): Promise<TrashEntry | undefined>;
  /** Moves the remaining files and the submodules' repositories back into a worktree; overwrites nothing. */
  bringBack(
    entry: TrashEntry,
    worktree: string,
    gitDir: string | null,
  ): Promise<{ readonly inTheWay: readonly string[] }>;
  /** Deletes the files that git holds, byte for byte, and nothing else. */
  thin(entry: TrashEntry, held: Iterable<HeldFile>): Promise<void>;
  /** Thinned, and nothing is left but files that Copse itself writes into worktrees. */
  isEmpty(entry: TrashEntry): boolean;
  /** Repositories inside it that may hold work. Reads every folder. */
  repositories(entry: TrashEntry): readonly string[];
  /** For good, unless repositories inside it may hold work: then it stays and is marked as kept. */
  delete(entry: TrashEntry): Promise<TrashDeletion>;
  /** Its undo has emptied the place: a worktree there from now on is the one that the undo made. */
  begin(entry: TrashEntry): Promise<void>;
  /** It was undone: no longer listed, deleted with the rest. */
  retire(entry: TrashEntry): Promise<void>;
}
