/** What the decision of a queue is made from (queue.ts). */

import type { CommitId, LandingId } from '../../../kernel/ids.ts';
import type { WaitReason } from '../wait-reason.ts';
import type { QueuedChange, RedVerdict } from './state.ts';

export interface QueueEntry extends QueuedChange {
  readonly queuedAt: number;
  /** To the front, alone, at the cost of others. */
  readonly isHotfix: boolean;
  /** A person said that it lands without checks. */
  readonly isUnchecked: boolean;
  /** Files by which it conflicts with the target as it is now, or null. */
  readonly conflict: readonly string[] | null;
  /** Why it may not land yet although it could: a dependency, a queue that accepts nothing. */
  readonly held: WaitReason | null;
}

export interface EndedRun {
  readonly run: number;
  readonly verdict: 'green' | RedVerdict | 'infrastructure';
  readonly reason: string;
  /** What it was checked on is part of the target by now. */
  readonly isOntoLanded: boolean;
}

export interface QueueFacts {
  readonly now: number;
  readonly tip: CommitId;
  /** What is to land, the most urgent first, the oldest of those first. */
  readonly entries: readonly QueueEntry[];
  /** Of what the state names, those that landed. */
  readonly landed: readonly LandingId[];
  readonly ended: readonly EndedRun[];
  /** Runs of the state that are going on. All others were lost with whoever ran them. */
  readonly running: readonly number[];
  /** How many checks may go on at once. */
  readonly slots: number;
  /** If not, whatever merges lands. */
  readonly hasChecks: boolean;
  readonly everyCommitGreen: boolean;
  /** Why the target must not move now, such as a pause or a checkout in the way. */
  readonly blocked: WaitReason | null;
  /** No more checks are begun: the queue is paused. */
  readonly isPaused: boolean;
}
