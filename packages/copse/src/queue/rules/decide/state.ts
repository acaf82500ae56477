/**
 * What the decision (decide.ts) remembers about one queue; the board stores it. All other facts are observed again each
 * time. Boards hold these field names and values, so they do not change.
 */

import type { CommitId, LandingId, TaskId } from '../../../kernel/ids.ts';
import type { LoggedFault } from '../check-fault.ts';

/** A change that is to land. A verdict about one head says nothing about another. */
export interface QueuedChange {
  readonly landing: LandingId;
  readonly task: TaskId;
  readonly head: CommitId;
}

/** Changes that are checked together, in the order in which they would land. */
export interface Batch {
  readonly id: number;
  readonly changes: readonly QueuedChange[];
  readonly stage: BatchStage;
  /** A single change that was red once on the target, which may be a flaky check. */
  readonly wasRed: boolean;
  /** The same for a timeout. */
  readonly wasSlow: boolean;
}

export type BatchStage =
  | { readonly is: 'waiting'; readonly as: 'again' | 'half' }
  /** The second half of a red batch; the verdict of the first half (`of`) decides what happens to it. */
  | { readonly is: 'waiting'; readonly as: 'second_half'; readonly of: number }
  | { readonly is: 'checking'; readonly run: number; readonly onto: CommitId; readonly of: number | null }
  /** Green on its own. `since` orders the train. */
  | { readonly is: 'green'; readonly since: number }
  /** Red, if the target itself is green, which is not known yet. */
  | {
      readonly is: 'accused';
      readonly run: number;
      readonly verdict: RedVerdict;
      /** It was red on top of this commit, which is part of the target. */
      readonly onto: CommitId;
    }
  /** To be handed back. */
  | { readonly is: 'guilty'; readonly run: number; readonly verdict: RedVerdict };

/** A check of the first batches of the train, stacked on the target. */
export interface Probe {
  readonly run: number;
  readonly batches: readonly number[];
  readonly commit: CommitId;
  /** Null while it runs. A green probe is dropped: its tree is known. */
  readonly red: RedVerdict | null;
}

/** Whether the target passes its checks with nothing merged into it. Checked only when a batch is red. */
export interface TargetCheck {
  readonly tip: CommitId;
  readonly verdict: 'checking' | 'green' | 'red';
  readonly run: number;
  /** Changes that were checked alone while the target was red. */
  readonly tried: readonly QueuedChange[];
  /** The checks that it is about (`QueueFacts.checks`); older boards do not have it. */
  readonly checks?: string;
  /** The check that failed, once it is red. */
  readonly failed?: LoggedFault;
}

/** Checks cannot run at all, so no verdict is known. */
export interface Trouble {
  readonly reason: string;
  readonly times: number;
  readonly until: number;
}

export interface QueueState {
  /** The moving share of changes that checks find guilty. */
  readonly guilt: number;
  readonly next: number;
  readonly batches: readonly Batch[];
  readonly probes: readonly Probe[];
  readonly audit: TargetCheck | null;
  readonly trouble: Trouble | null;
  /** How often a later change got into a batch before this one. */
  readonly passedOver: Readonly<Record<LandingId, number>>;
}

export type RedVerdict = 'red' | 'timeout';

export const emptyQueueState: QueueState = {
  guilt: 0.05,
  next: 1,
  batches: [],
  probes: [],
  audit: null,
  trouble: null,
  passedOver: {},
};

/** For a retry: forgets that checks could not run, and that the target was red. */
export function withoutTrouble(state: QueueState): QueueState {
  const audit = state.audit?.verdict === 'red' ? null : state.audit;
  return { ...state, trouble: null, audit };
}

export function isSameChange(one: QueuedChange, other: QueuedChange): boolean {
  return one.landing === other.landing && one.head === other.head;
}

const IN_FLIGHT: Readonly<Record<BatchStage['is'], boolean>> = {
  checking: true,
  green: true,
  waiting: false,
  accused: false,
  guilty: false,
};

/** Being checked, or green. */
export function isInFlight({ stage }: Batch): boolean {
  return IN_FLIGHT[stage.is];
}

/** Runs that a batch, a probe or the target check waits for. */
export function runsOf({
  batches,
  probes,
  audit,
}: Pick<QueueState, 'batches' | 'probes' | 'audit'>): readonly number[] {
  return [
    ...batches.flatMap(({ stage }) => (stage.is === 'checking' ? [stage.run] : [])),
    ...probes.flatMap(({ run, red }) => (red === null ? [run] : [])),
    ...(audit?.verdict === 'checking' ? [audit.run] : []),
  ];
}
