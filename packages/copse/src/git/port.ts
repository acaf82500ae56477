/**
 * The operations of git that the rest of Copse uses. Expected failures are outcomes; everything else throws with the command
 * and git's message.
 */

import type { AttemptId, BranchName, CommitId, FencingToken, TaskId, Timestamp } from '../kernel/ids.ts';
import type { WorktreeFacts } from '../workspaces/rules/preparation.ts';

export interface Uncommitted {
  /** Tracked files that differ from HEAD, in the index or on disk. */
  readonly changed: readonly string[];
  readonly untracked: readonly string[];
  /** Files and folders that git cannot read, so their content is unknown; they are among the untracked, too. */
  readonly unreadable: readonly string[];
  /** The index could not be read, so staged changes are unknown. */
  readonly isIndexLost?: boolean;
}

/** Ignored files of a folder; a folder counts as one if everything in it is ignored. */
export interface Ignored {
  readonly count: number;
  /** As many as are worth naming; folders end with a slash. */
  readonly first: readonly string[];
}

export type Fetched =
  | { readonly kind: 'fetched' }
  | {
      readonly kind: 'failed';
      readonly because: 'no_remote' | 'unreachable' | 'remote_changed';
      readonly reason: string;
    };

export interface NewWorktree {
  readonly path: string;
  /** Its name in git's registration; Copse uses the task's id. */
  readonly name: string;
  readonly branch: BranchName;
  /** Worktrees that do not hold the branch, whatever their HEAD says. */
  readonly ignoring?: readonly string[];
}

/** A worktree that git has registered, with a branch and possibly no files yet. */
export interface RegisteredWorktree {
  readonly path: string;
  readonly gitDir: string;
  readonly tip: CommitId;
}

export type Registered =
  | { readonly kind: 'registered'; readonly place: RegisteredWorktree }
  /** Another checkout has the branch. */
  | { readonly kind: 'taken'; readonly takenBy: string };

export type RefMove =
  | { readonly kind: 'moved' }
  | { readonly kind: 'not_moved'; readonly because: 'changed' | 'locked'; readonly tip: CommitId | null };

export interface TrackedFile {
  /** As git stores it: bytes, relative, with slashes. */
  readonly path: Buffer;
  readonly mode: string;
  readonly id: string;
  readonly bytes: number;
}

export type RemoteDeletion =
  | { readonly kind: 'deleted' | 'absent' }
  /** The remote branch has another tip, so it was kept. */
  | { readonly kind: 'changed'; readonly reason: string }
  | { readonly kind: 'refused'; readonly reason: string };

export interface Git {
  /** Held by one process at a time; the system releases it when its holder dies. */
  withLock<T>(this: void, work: () => Promise<T>): Promise<T>;
  /** Undefined when another process has it. */
  tryLock<T>(
    this: void,
    name: string,
    work: () => Promise<T>,
    options?: { readonly patienceMs: number },
  ): Promise<{ readonly value: T } | undefined>;

  look(path: string): Promise<WorktreeFacts>;
  uncommitted(path: string): Promise<Uncommitted>;
  /** Of these files, those that are uncommitted in a worktree; also ignored ones, which git does not call uncommitted. */
  stillUncommitted(path: string, files: readonly string[]): Promise<readonly string[]>;
  /** The commit at a full ref name, or undefined. */
  tip(ref: string): Promise<CommitId | undefined>;
  isAncestor(ancestor: CommitId, of: CommitId): Promise<boolean>;
  mergeBase(one: CommitId, other: CommitId): Promise<CommitId | undefined>;
  /** Commits reachable from the second and not from the first. */
  countCommits(notFrom: CommitId, from: CommitId): Promise<number>;
  /**
   * Ignored files of a worktree in the trash; for a thinned one, from which tracked files were removed, all files. Undefined
   * when git fails. Reads every folder.
   */
  ignored(trashed: {
    readonly files: string;
    readonly gitDir: string;
    readonly isThin: boolean;
  }): Promise<Ignored | undefined>;
  /** The number of files in the index of a worktree. */
  countFiles(path: string): number;
  /** Every file of a commit. */
  files(commit: CommitId): Promise<readonly TrackedFile[]>;
  /** The folder of the checkout that has this branch, or is rebasing it. */
  holderOf(branch: BranchName, ignoring?: readonly string[]): Promise<string | undefined>;
  /** Whether the branch is a symbolic ref to another one. */
  isAlias(branch: BranchName): Promise<boolean>;
  /** Whether the worktree's reflog has the commit as one that was made there, and not only checked out, merged or reset to. */
  isMadeIn(path: string, commit: CommitId): boolean;
  /** Branches that were made in the worktree, by the reflogs; `first` is the message with which its own was made. */
  branchesMadeIn(
    path: string,
    since: { readonly sinceMs: number; readonly first: string },
  ): readonly BranchName[];
  detectBase(): Promise<BranchName | undefined>;
  remoteName(): Promise<string | undefined>;
  fetch(branches: readonly BranchName[]): Promise<Fetched>;

  /** Moves a ref from the expected tip (null: it must not exist) to another (null: it is deleted). */
  moveRef(ref: string, from: CommitId | null, to: CommitId | null, reason: string): Promise<RefMove>;
  /** Deletes a ref of Copse's own that is not needed any more. One that is locked or has moved stays. */
  dropRef(ref: string, tip: CommitId): Promise<void>;
  /** Makes a locked worktree on an existing branch. Only one process does so at a time. */
  register(worktree: NewWorktree): Promise<Registered>;
  /** The same at a commit, with a detached HEAD. */
  registerDetached(worktree: Omit<NewWorktree, 'branch'>, commit: CommitId): Promise<RegisteredWorktree>;
  /** Writes its files. Takes long; any number of processes may do so at once. */
  checkOut(place: RegisteredWorktree, sparse: readonly string[]): Promise<void>;
  /** Corrects the paths of a worktree whose repository was moved. */
  repair(path: string): Promise<void>;
  /** Lock files in the worktree's git directory, with their times. */
  locks(path: string): Promise<readonly { readonly file: string; readonly since: Timestamp }[]>;
  /** Deletes a branch on the remote if it has the expected tip. */
  deleteRemoteBranch(branch: BranchName, tip: CommitId): Promise<RemoteDeletion>;
  /** Every linked worktree that git has registered, also those that Copse did not make. */
  worktrees(): readonly { readonly name: string; readonly path: string }[];
  /** The worktree's own git directory, if the folder is or was a worktree. */
  gitDirOf(path: string): string | undefined;
  /** Differs when HEAD of the worktree moved; reads the times of two files. */
  headStamp(path: string): string;
  readonly stores: ObjectStores;
  readonly work: WorkRefs;
  /** Ends the long-lived gits of the repository in this process. A later question starts them again. */
  close(): Promise<void>;
}

/** The snapshot of one attempt on the remote. */
export interface WorkRef {
  readonly task: TaskId;
  readonly token: FencingToken;
}

/** With the commit that it had when it was looked at: only then is it removed. */
export interface ListedWork extends WorkRef {
  readonly commit?: CommitId;
}

export interface RemoteFailure {
  readonly kind: 'failed';
  /** `rejected`: it was reached and refused, so it would refuse again. */
  readonly because: 'no_remote' | 'unreachable' | 'remote_changed' | 'rejected';
  readonly reason: string;
}

/** A large head on a slow line takes long: without a limit, a transfer lasts as long as it makes progress. */
export interface TransferOptions {
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Snapshots on the remote, under `refs/copse/work/<task>/<token>`. */
export interface WorkRefs {
  /** Replaces the attempt's earlier snapshot. */
  push(
    of: WorkRef,
    commit: CommitId,
    options?: TransferOptions,
  ): Promise<{ readonly kind: 'pushed' } | RemoteFailure>;
  /** All in one fetch; `missing`: those that the remote lacks. */
  fetch(
    refs: readonly WorkRef[],
    options?: TransferOptions,
  ): Promise<{ readonly kind: 'fetched'; readonly missing: readonly WorkRef[] } | RemoteFailure>;
  list(): Promise<
    | { readonly kind: 'listed'; readonly refs: readonly (WorkRef & { readonly commit: CommitId })[] }
    | RemoteFailure
  >;
  /** Removes them, and branches that still have the expected tip, in one push; also the fetched copies here. */
  drop(
    refs: readonly ListedWork[],
    branches?: readonly { readonly branch: BranchName; readonly tip: CommitId }[],
  ): Promise<{ readonly kind: 'dropped' } | RemoteFailure>;
  /** How much a push of the commit would send at most. */
  newBytes(commit: CommitId, except: readonly CommitId[]): Promise<number>;
}

/** The object store of an attempt in a sandbox. */
export interface StoreId {
  readonly task: TaskId;
  readonly attempt: AttemptId;
}

export interface UnbroughtObject {
  readonly id: string;
  /** Continues "The object … was not brought:". */
  readonly why: string;
  /** It may be sound: it is more than Copse takes. */
  readonly isBeyondLimits?: true;
}

/** Agents in a sandbox write objects into stores of their own, from which Copse brings them into the repository. */
export interface ObjectStores {
  list(): readonly StoreId[];
  /** Brings new objects of the task's stores. Its agent may be at work, so what cannot be brought may come later. */
  bring(task: TaskId): Promise<void>;
  /**
   * Brings the rest and removes the store. It stays while a process of the attempt runs, and while an object cannot be
   * brought: those are returned.
   */
  close(store: StoreId): Promise<readonly UnbroughtObject[]>;
  /**
   * Removes the store with all that is damaged, unless a process of the attempt runs. A store beyond the limits is set aside.
   */
  drop(store: StoreId): Promise<void>;
  /** Moves the task's stores to where Copse does not read them. Returns their new places. */
  setAside(task: TaskId): readonly string[];
}

export const rescueReasons = ['removal', 'reset', 'retry', 'handover', 'escape', 'asked'] as const;
export type RescueReason = (typeof rescueReasons)[number];

/** A snapshot of a worktree: everything in it that no ref holds. */
export interface Rescue {
  readonly ref: string;
  readonly commit: CommitId;
  readonly task: TaskId;
  readonly why: RescueReason;
  readonly at: Timestamp;
  readonly branch: BranchName | null;
  readonly head: CommitId | null;
  /** Paths that differ from HEAD. */
  readonly changed: number;
}

export interface SnapshotRequest {
  readonly task: TaskId;
  readonly worktree: string;
  readonly why: RescueReason;
  readonly at: Timestamp;
  /** For a folder that is no longer a worktree: its files are saved as changes to this branch. */
  readonly asBranch?: BranchName;
}

export type SnapshotOutcome =
  | { readonly kind: 'saved'; readonly rescue: Rescue }
  /** Nothing would be lost: no change, no untracked file, no commit without a ref. */
  | { readonly kind: 'nothing_to_save' };

/** A snapshot of a worktree that is pushed, so that another machine can go on with it. */
export interface TravelRequest {
  readonly task: TaskId;
  readonly worktree: string;
  /** The task's branch. */
  readonly branch: BranchName;
  readonly at: Timestamp;
  /** The mark of the last snapshot: with the same one, no commit is made. */
  readonly known: string | null;
  /** The snapshot before: it stays reachable from this one, because the board may name it a while longer. */
  readonly previous: CommitId | null;
}

interface TravelFacts {
  readonly head: CommitId;
  /** No file differs from HEAD. */
  readonly isClean: boolean;
  /** Differs when anything in the snapshot differs. */
  readonly mark: string;
  /** Changed files that stay on this machine: too large, or likely to be secrets. */
  readonly left: readonly string[];
}

export type TravelSnapshot =
  | ({ readonly kind: 'captured'; readonly commit: CommitId } & TravelFacts)
  | ({ readonly kind: 'unchanged' } & TravelFacts)
  | { readonly kind: 'no_commit' };

/** The tip of a branch that Copse deleted or moved back, if no other ref reaches it. */
export interface KeptTip {
  readonly ref: string;
  readonly commit: CommitId;
  readonly task: TaskId;
  readonly at: Timestamp;
  readonly subject: string;
}

export interface TravelledRescue extends Rescue {
  /** The task's branch, if HEAD was not on it. */
  readonly branchTip: CommitId | null;
}

export interface Rescues {
  /** Leaves index, HEAD, branch and files unchanged. Throws when something could not be saved. */
  snapshot(request: SnapshotRequest): Promise<SnapshotOutcome>;
  list(task?: TaskId): Promise<readonly Rescue[]>;
  kept(): Promise<readonly KeptTip[]>;
  find(ref: string): Promise<Rescue | undefined>;
  changes(rescue: Rescue): Promise<readonly { readonly path: string; readonly change: string }[]>;
  /** For another machine. Leaves index, HEAD, branch and files unchanged, and makes no ref. */
  travelling(request: TravelRequest): Promise<TravelSnapshot>;
  /** The same of a commit alone. */
  wrap(of: Pick<TravelRequest, 'task' | 'at' | 'previous'> & { readonly head: CommitId }): Promise<CommitId>;
  /** Makes a fetched snapshot a rescue of this machine. Undefined when the commit is none. */
  adopt(commit: CommitId): Promise<TravelledRescue | undefined>;
  /** Restores files, modes, links, the index and operations in progress; never overwrites a newer file. */
  restore(rescue: Rescue, worktree: string): Promise<Restored>;
}

export type Restored =
  | { readonly kind: 'restored'; readonly files: number }
  /** The worktree has changes of its own at these paths; nothing was written. */
  | { readonly kind: 'in_the_way'; readonly inTheWay: readonly string[] };
