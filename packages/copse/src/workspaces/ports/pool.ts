/** Worktrees that are checked out in advance, so that a task gets one by a rename. */

import type { CommitId } from '../../kernel/ids.ts';
import type { NewWorktree, RegisteredWorktree, TrackedFile } from '../../git/port.ts';

export interface PoolEntry {
  readonly number: number;
  readonly path: string;
  /** What its files are. */
  readonly commit: CommitId;
}

/** In the order in which they happen while an entry is handed out; each may be the last thing a killed process did. */
export const takeSteps = [
  'unsealed',
  'marked',
  'moved',
  'registered',
  'index_moved',
  'unregistered',
  'advanced',
  'finished',
] as const;
/** The same for making, advancing and recycling an entry. */
export const fillSteps = [
  'entry_registered',
  'entry_opened',
  'entry_filled',
  'entry_finished',
  'sealed',
] as const;
export type PoolStep = (typeof takeSteps)[number] | (typeof fillSteps)[number];

export type Taken =
  | {
      readonly kind: 'taken';
      /** Finished: its files are those of the tip. */
      readonly place: RegisteredWorktree;
      /** Whether the entry was at the tip already, so that no file had to be written. */
      readonly wasAtTip: boolean;
    }
  /** `spoiled`: the entries have changes that are not Copse's. `register` explains the rest. */
  | {
      readonly kind: 'not_taken';
      readonly because: 'empty' | 'spoiled' | 'branch_in_use' | 'branch_moved' | 'place_in_use';
    };

/** A surplus or broken entry. Null: that half of it does not exist. */
export interface Leftover {
  readonly path: string | null;
  readonly gitDir: string | null;
  readonly why: string;
  /** Every file in it is that of a commit. */
  readonly isProven: boolean;
}

export interface Refilled {
  readonly ready: number;
  readonly made: number;
  readonly advanced: number;
  readonly removed: number;
  /** Entries that a killed process left half done. */
  readonly cleared: number;
  /** Entries with files that are not Copse's: they are neither handed out nor removed. */
  readonly left: readonly { readonly path: string; readonly why: string }[];
}

export type Recycled =
  /** `kept` files came from the old worktree, `written` ones from git. */
  | { readonly kind: 'recycled'; readonly entry: PoolEntry; readonly kept: number; readonly written: number }
  /** `files_are_converted`: a checkout converts every text here, so files on disk cannot be compared with git's. */
  | { readonly kind: 'not_recycled'; readonly because: 'not_a_folder' | 'files_are_converted' | 'spoiled' };

export interface Pool {
  /** The branch has to exist at the tip. Any number may ask at once; each gets an entry of its own or none. */
  take(worktree: NewWorktree & { readonly tip: CommitId }): Promise<Taken>;
  /** Brings the pool to this size, with every entry at the base. For the background. */
  refill(target: number, base: CommitId): Promise<Refilled>;
  /**
   * Makes an entry of the files of a worktree that was removed. Only files that are, byte for byte, what a checkout of
   * the base would write, and that are also held by what brings the worktree back, are taken out of the folder; all else
   * stays where it is.
   */
  recycle(files: string, base: CommitId, held: readonly TrackedFile[]): Promise<Recycled>;
  /** Those that are ready, or were when they were last looked at. */
  list(): readonly PoolEntry[];
}
