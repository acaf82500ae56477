/** What a sweep looks at, as it was found, and what the plan says about each thing. */

import type {
  BranchName,
  CommitId,
  FencingToken,
  SessionId,
  TaskId,
  Timestamp,
} from '../../../kernel/ids.ts';
import type { TaskStatus } from '../../../tasks/rules/task.ts';
import type { RemovalFacts } from '../removal.ts';

export const sweptKinds = [
  'worktree',
  'branch',
  'trash',
  'session',
  'logs',
  'artifacts',
  'snapshot',
  'record',
] as const;
export type SweptKind = (typeof sweptKinds)[number];

/** `deleted`: the board had it, and a person deleted it. `unknown`: the board never had it; it may be that of another board. */
export type OwnerStatus = TaskStatus | 'deleted' | 'unknown';

/** How much it takes on the disk; null if it was not measured. */
interface OnDisk {
  readonly bytes: number | null;
}

export interface FoundWorktree extends OnDisk {
  readonly task: TaskId;
  readonly path: string;
  /** Its folder exists; otherwise only records of it do. */
  readonly isThere: boolean;
  readonly owner: OwnerStatus;
  /** Since when its task has its status, or since it was prepared or brought back, if that was later; null without a task. */
  readonly since: Timestamp | null;
  /** When the folder was last changed; null if that is unknown. */
  readonly changedAt: Timestamp | null;
  /** An orchestrator of this machine recovers the task, in this worktree. */
  readonly isRecovered: boolean;
  readonly cleanupOnFailure: boolean;
  /** Its branch is the result of the task, so it stays whatever the settings say. */
  readonly isResult: boolean;
  /** Null: not looked at, because its age keeps it. */
  readonly removal: RemovalFacts | null;
  /** Branches that were made in it besides its own. */
  readonly strays: readonly BranchName[];
}

/** A branch that Copse began for a task, under this name or another. */
export interface FoundBranch {
  readonly task: TaskId;
  readonly branch: BranchName;
  readonly tip: CommitId;
  readonly owner: OwnerStatus;
  readonly since: Timestamp | null;
  /** The board has it under this name; otherwise an agent renamed it. */
  readonly isOwn: boolean;
  readonly isResult: boolean;
  /** The checkout that has it. */
  readonly holder: string | null;
  /** It is a target, a base, an alias of another branch or the branch of another task. */
  readonly isWanted: boolean;
  /** A worktree of the task exists, here or on another machine. */
  readonly hasWorktree: boolean;
  /** `unknown`: there is no base to compare it with. Null: not looked at, because its age keeps it. */
  readonly state: 'in_target' | 'landed' | 'unmerged' | 'unknown' | null;
}

export interface FoundTrash extends OnDisk {
  readonly folder: string;
  readonly task: TaskId;
  readonly at: Timestamp;
  /** A checkout that was never finished. */
  readonly isLeftover: boolean;
  /** Nothing is in it that git does not hold. */
  readonly isEmpty: boolean;
  /** An undo of it has begun. */
  readonly isBegun: boolean;
  /** Repositories inside it that may hold work. */
  readonly repositories: readonly string[];
  /** A process is in it, or that is unknown. Null: not looked at, because its age keeps it. */
  readonly isOccupied: boolean | null;
  /** Why it could not be read. */
  readonly problem?: string;
}

export interface FoundLogs extends OnDisk {
  readonly kind: 'logs' | 'artifacts';
  readonly folder: string;
  readonly task: TaskId;
  readonly owner: OwnerStatus;
  readonly at: Timestamp;
  /** How many folders were changed later. */
  readonly newer: number;
  /** Everything in it can be made again: logs, and patches of commits. */
  readonly isDerived: boolean;
  /** An import that is not over brings its files into the repository. */
  readonly neededBy: TaskId | null;
}

/** The complete output of the attempts of a session. */
export interface FoundSession extends OnDisk {
  readonly session: SessionId;
  readonly task: TaskId;
  readonly owner: OwnerStatus;
  /** Null while an attempt of it runs, or if the board does not know when it ended. */
  readonly endedAt: Timestamp | null;
  readonly files: readonly string[];
}

/** A snapshot of work on the remote. */
export interface FoundSnapshot {
  readonly ref: string;
  readonly task: TaskId;
  readonly token: FencingToken;
  /** `ended`: cancelled, or done without changes; a rescue keeps it. Null: it may still be needed. */
  readonly end: 'landed' | 'ended' | null;
}

/** A worktree that git has registered, that Copse did not make, and whose folder is gone. */
export interface FoundRecord {
  readonly name: string;
  readonly path: string;
}

export interface SweepFacts {
  readonly now: Timestamp;
  /** The time by which the trash grows old, if that is another one: trash-clock.ts. */
  readonly trashNow?: Timestamp;
  readonly worktrees: readonly FoundWorktree[];
  readonly branches: readonly FoundBranch[];
  readonly trash: readonly FoundTrash[];
  readonly logs: readonly FoundLogs[];
  readonly sessions: readonly FoundSession[];
  readonly snapshots: readonly FoundSnapshot[];
  readonly records: readonly FoundRecord[];
}

export type SweepVerdict =
  | {
      readonly kind: 'goes';
      /** Why, as the end of a line. */
      readonly why: string;
      /** Refs below which its content stays; the exact ones are known when they are written. */
      readonly keptUnder: readonly string[];
      /** What else happens, as sentences. */
      readonly notes: readonly string[];
    }
  | {
      readonly kind: 'stays';
      readonly why: string;
      /** If only its age keeps it: since when it is safe to remove. A disk budget may remove it. */
      readonly safeSince: Timestamp | null;
      /** What a budget would do with it. */
      readonly asIfOld?: Extract<SweepVerdict, { readonly kind: 'goes' }>;
    };

/** A thing with its kind. */
export type SweptThing =
  | { readonly kind: 'worktree'; readonly is: FoundWorktree }
  | { readonly kind: 'branch'; readonly is: FoundBranch }
  | { readonly kind: 'trash'; readonly is: FoundTrash }
  | { readonly kind: 'session'; readonly is: FoundSession }
  | { readonly kind: 'logs' | 'artifacts'; readonly is: FoundLogs }
  | { readonly kind: 'snapshot'; readonly is: FoundSnapshot }
  | { readonly kind: 'record'; readonly is: FoundRecord };

export interface SweepItem<V extends SweepVerdict = SweepVerdict> {
  readonly found: SweptThing;
  /** A path, a branch, a ref or the id of a session. */
  readonly name: string;
  readonly task: TaskId | null;
  readonly bytes: number | null;
  readonly verdict: V;
  /** The disk budget takes it before its time. */
  readonly isForBudget?: true;
}

export type GoingItem = SweepItem<Extract<SweepVerdict, { readonly kind: 'goes' }>>;
