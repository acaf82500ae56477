/** What tasks and killed processes leave in `.copse` and under `refs/copse`. */

import type { AttemptId, BranchName, CommitId, TaskId, Timestamp } from '../../kernel/ids.ts';

export interface KeepRef {
  readonly ref: string;
  readonly commit: CommitId;
  readonly task: TaskId;
  /** The branch that was asked about contains the commit. */
  readonly isMerged: boolean;
}

interface LogFolder {
  readonly kind: 'logs' | 'artifacts';
  readonly folder: string;
  readonly task: TaskId;
  readonly at: Timestamp;
  /** Logs, or nothing but patches of commits. */
  readonly isDerived: boolean;
  /** Files that may be transcripts, and no other. */
  readonly hasOnlyTranscripts: boolean;
}

interface TranscriptFile {
  readonly file: string;
  readonly task: TaskId;
  readonly attempt: AttemptId;
  readonly bytes: number;
}

export interface BegunBranch {
  readonly branch: BranchName;
  readonly tip: CommitId;
  readonly task: TaskId;
}

export interface TaskLeftovers {
  /** Deletes scratch folders of processes that are gone. Returns why others could not be deleted. */
  deleteScratch(now: Timestamp): Promise<readonly string[]>;
  /** Folders with the logs or results of a task, the latest change first. */
  logs(task?: TaskId): readonly LogFolder[];
  /** The complete outputs of attempts, beside their logs. */
  transcripts(task?: TaskId): readonly TranscriptFile[];
  /** A folder without these files of it, and with them if there are none. Returns why something could not be deleted. */
  deleteFolder(folder: string, kept: ReadonlySet<string>): Promise<readonly string[]>;
  /** A folder or a file. Returns why it could not be deleted, if so. */
  deleteLogs(place: string): Promise<readonly string[]>;
  /** Branches that Copse began for a task, by their reflogs; an agent may have renamed them. */
  begunBranches(): Promise<readonly BegunBranch[]>;
  /** When a folder was last changed; undefined if it is missing. No link is followed. */
  changedAt(folder: string): Timestamp | undefined;
  /** Measures folders for so long in all, beside other work of this process; null when the time was up first. */
  measuring(forMs: number): (folder: string) => Promise<number | null>;
  /** Tasks that have a lock file. */
  locks(): readonly TaskId[];
  /** Deletes the lock file, unless a process holds it, and the record of a set-up whose worktree is gone. */
  deleteLock(task: TaskId): Promise<void>;
  /** Refs that keep the tips of branches, oldest first. */
  kept(branch: BranchName): Promise<readonly KeepRef[]>;
  /** Deletes those that are still at their commit. */
  dropKept(refs: readonly KeepRef[]): Promise<void>;
}
