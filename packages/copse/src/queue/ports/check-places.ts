/** The worktrees in which the queue checks candidates: one for each slot, used again for the next candidate. */

import type { CommitId } from '../../kernel/ids.ts';
import type { Place } from '../../git/port.ts';

export interface CheckCandidate {
  readonly commit: CommitId;
  /** Folders, as for the worktrees of tasks; none means all. */
  readonly sparse: readonly string[];
}

export type Readied =
  /** `anew`: why the existing worktree was replaced; null when it was reused, or there was none. */
  | { readonly ready: true; readonly place: Place; readonly anew: string | null }
  | { readonly ready: false; readonly reason: string };

export interface CheckPlaces {
  /** Slots that have a folder. */
  known(): readonly number[];
  path(slot: number): string;
  /** The caller holds the lock of the slot, and nothing runs there. */
  ready(slot: number, candidate: CheckCandidate): Promise<Readied>;
}
