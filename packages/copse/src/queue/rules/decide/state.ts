/**
 * What the merge queue of one target has to remember between two decisions; the board keeps it. Everything else is looked
 * at anew each time (queue.ts).
 */

import type { CommitId, LandingId, TaskId } from '../../../kernel/ids.ts';

/** What is to land. Nothing that was found out about one head says anything about another. */
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
  /** As a change by itself it was red once on what the target is made of, which may have been a flake. */
  readonly wasRed: boolean;
  /** The same, of a check that took too long. */
  readonly wasSlow: boolean;
}

export type BatchStage =
  | { readonly is: 'waiting'; readonly as: 'again' | 'half' }
  /** The rest of a red batch. What is found out about the first half says what becomes of it. */
  | { readonly is: 'waiting'; readonly as: 'second_half'; readonly of: number }
  | { readonly is: 'checking'; readonly run: number; readonly onto: CommitId; readonly of: number | null }
  /** Green by itself. `since` orders the train. */
  | { readonly is: 'green'; readonly since: number }
  /** Red as soon as it is known that the target itself is not. */
  | {
      readonly is: 'accused';
      readonly run: number;
      readonly verdict: RedVerdict;
      /** What it was red on top of, which is part of the target. */
      readonly onto: CommitId;
    }
  /** To be handed back. */
  | { readonly is: 'guilty'; readonly run: number; readonly verdict: RedVerdict };

/** A check of the first so many batches of the train, stacked on the target. */
export interface Probe {
  readonly run: number;
  readonly batches: readonly number[];
  readonly commit: CommitId;
  /** Null while it is being checked. A green one is not remembered: its tree is. */
  readonly red: RedVerdict | null;
}

/** Whether the target passes its checks with nothing merged into it. Asked only when something is red. */
export interface TargetCheck {
  readonly tip: CommitId;
  readonly verdict: 'checking' | 'green' | 'red';
  readonly run: number;
  /** Those that were checked alone while the target was red. */
  readonly tried: readonly QueuedChange[];
}

/** The checks themselves do not work: nothing is known about any change. */
export interface Trouble {
  readonly reason: string;
  readonly times: number;
  readonly until: number;
}

export interface QueueState {
  /** The share of changes that checks find guilty, as it moves. */
  readonly guilt: number;
  readonly next: number;
  readonly batches: readonly Batch[];
  readonly probes: readonly Probe[];
  readonly audit: TargetCheck | null;
  readonly trouble: Trouble | null;
  /** How often a later change was taken into a batch before this one. */
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

/** As a person wants it who says "again": that checks could not run is forgotten, and that the target was red. */
export function withoutTrouble(state: QueueState): QueueState {
  const audit = state.audit?.verdict === 'red' ? null : state.audit;
  return { ...state, trouble: null, audit };
}

export function isSameChange(one: QueuedChange, other: QueuedChange): boolean {
  return one.landing === other.landing && one.head === other.head;
}

/** Everything that is checked or was found green, and is not to be handed back. */
export function isInFlight({ stage }: Batch): boolean {
  return stage.is === 'checking' || stage.is === 'green';
}

/** The run that a batch or a probe or the audit waits for. */
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
