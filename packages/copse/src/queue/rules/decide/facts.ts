/** The facts that the decision (decide.ts) is made from. */

import type { BranchName, CommitId, LandingId } from '../../../kernel/ids.ts';
import type { LoggedFault } from '../check-fault.ts';
import type { WaitReason } from '../wait-reason.ts';
import type { QueuedChange, RedVerdict } from './state.ts';

export interface QueueEntry extends QueuedChange {
  readonly queuedAt: number;
  /** Goes to the front and is checked alone. */
  readonly isHotfix: boolean;
  /** A person lets it land without checks. */
  readonly isUnchecked: boolean;
  /** Files in which it conflicts with the current target, or null. */
  readonly conflict: readonly string[] | null;
  /** Why it must not land yet, such as a dependency. */
  readonly held: WaitReason | null;
}

export interface EndedRun {
  readonly run: number;
  readonly verdict: 'green' | RedVerdict | 'infrastructure';
  readonly reason: string;
  readonly failed?: LoggedFault;
  /** The commit that it was checked on is part of the target now. */
  readonly isOntoLanded: boolean;
}

export interface QueueFacts {
  readonly now: number;
  readonly target: BranchName;
  readonly tip: CommitId;
  /** In the order of landing: by urgency, then by age. */
  readonly entries: readonly QueueEntry[];
  /** Changes of the state that have landed. */
  readonly landed: readonly LandingId[];
  readonly ended: readonly EndedRun[];
  /** Runs of the state that are running. All others were lost with their process. */
  readonly running: readonly number[];
  /** How many checks may run at once. */
  readonly slots: number;
  /** If false, everything that merges lands. */
  readonly hasChecks: boolean;
  /** Digest of their commands and environments: what was found out about the target with others no longer counts. */
  readonly checks: string;
  readonly everyCommitGreen: boolean;
  /** Why the target must not move now, such as a pause or a changed checkout. */
  readonly blocked: WaitReason | null;
  /** No check starts. */
  readonly isPaused: boolean;
}
