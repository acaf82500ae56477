/**
 * The queue of a target branch as the board keeps it: its two switches, what the decision has to remember (queue-state.ts), and
 * which checks are going on, for everybody who looks.
 */

import { type Decision, decided, refused } from '../../kernel/decision.ts';
import type { BranchName, CommitId, LandingId, NodeId, Timestamp } from '../../kernel/ids.ts';
import type { Purpose } from './decide/decide.ts';
import type { ProcessIdentity } from '../../kernel/process.ts';
import { type QueueState, emptyQueueState, withoutTrouble } from './decide/state.ts';
import { type StoredWaitReason, type WaitReason, readWaitReason } from './wait-reason.ts';

/** `accept`: what comes now waits outside. `land`: the target stays where it is, and no more checks are begun. */
export type QueueSwitch = 'accept' | 'land';

export interface Pause {
  readonly since: Timestamp;
  readonly reason: string | null;
}

/** A candidate that is being checked. */
export interface CheckRun {
  readonly run: number;
  readonly purpose: Purpose;
  readonly commit: CommitId;
  /** What it is made of, on top of the target: in the order of landing. */
  readonly landings: readonly LandingId[];
  readonly slot: number;
  readonly node: NodeId;
  /** Which runs it on that node; absent where the system does not tell processes apart. */
  readonly process?: ProcessIdentity;
  readonly since: Timestamp;
}

export interface MergeQueue {
  readonly id: BranchName;
  readonly paused: { readonly [S in QueueSwitch]: Pause | null };
  readonly state: QueueState;
  readonly runs: readonly CheckRun[];
  /** Something waits and nothing moves. */
  readonly stalled: { readonly since: Timestamp; readonly reason: WaitReason } | null;
}

interface Of<T extends string> {
  readonly type: T;
  readonly id: BranchName;
  readonly at: Timestamp;
}

export type MergeQueueEvent =
  | (Of<'queue.paused'> & { readonly what: QueueSwitch; readonly reason: string | null })
  | (Of<'queue.resumed'> & { readonly what: QueueSwitch })
  | Of<'queue.retried'>
  | (Of<'queue.decided'> & Pick<MergeQueue, 'state' | 'runs'>)
  | (Of<'queue.stalled'> & { readonly reason: StoredWaitReason })
  | Of<'queue.moving'>;

export function newQueue(id: BranchName): MergeQueue {
  return { id, paused: { accept: null, land: null }, state: emptyQueueState, runs: [], stalled: null };
}

/** A queue as a board stores it: the reason of a stall may be a sentence, from before reasons were data. */
export function readQueue(stored: MergeQueue): MergeQueue {
  const { stalled } = stored;
  return stalled === null
    ? stored
    : { ...stored, stalled: { ...stalled, reason: readWaitReason(stalled.reason) } };
}

export function decidePauseQueue(
  queue: MergeQueue,
  what: QueueSwitch,
  reason: string | null,
  at: Timestamp,
): Decision<MergeQueueEvent> {
  if (queue.paused[what] !== null) {
    const doing = what === 'accept' ? 'accepts nothing' : 'lands nothing';
    return refused('wrong_status', `The queue of ${queue.id} ${doing} already.`, 'copse queue resume');
  }
  return decided({ type: 'queue.paused', id: queue.id, at, what, reason });
}

export function decideResumeQueue(
  queue: MergeQueue,
  what: QueueSwitch,
  at: Timestamp,
): Decision<MergeQueueEvent> {
  if (queue.paused[what] === null)
    return refused('wrong_status', `The queue of ${queue.id} is not paused.`, 'copse queue');
  return decided({ type: 'queue.resumed', id: queue.id, at, what });
}

/** Checks that could not run are begun at once, and a target that was red is checked anew. Null when it is neither. */
export function decideRetryQueue({ id, state }: MergeQueue, at: Timestamp): Decision<MergeQueueEvent> | null {
  if (state.trouble === null && state.audit?.verdict !== 'red') return null;
  return decided({ type: 'queue.retried', id, at });
}

/**
 * What whoever leads the queue is about to write, if a person said "again" since it read the state that it decided from: nobody
 * else changes what the queue remembers.
 */
export function keepRetry(decided: QueueState, read: QueueState, written: QueueState): QueueState {
  const isRetried =
    (read.trouble !== null && written.trouble === null) ||
    (read.audit?.verdict === 'red' && written.audit === null);
  return isRetried ? withoutTrouble(decided) : decided;
}

export function evolveQueue(queue: MergeQueue | undefined, event: MergeQueueEvent): MergeQueue {
  const before = queue ?? newQueue(event.id);
  switch (event.type) {
    case 'queue.paused': {
      const pause = { since: event.at, reason: event.reason };
      return { ...before, paused: { ...before.paused, [event.what]: pause } };
    }
    case 'queue.resumed':
      return { ...before, paused: { ...before.paused, [event.what]: null } };
    case 'queue.retried':
      return { ...before, state: withoutTrouble(before.state) };
    case 'queue.decided':
      return { ...before, state: event.state, runs: event.runs };
    case 'queue.stalled':
      return { ...before, stalled: { since: event.at, reason: readWaitReason(event.reason) } };
    case 'queue.moving':
      return { ...before, stalled: null };
    default:
      throw new Error(`A queue knows nothing of ${String(event satisfies never)}`);
  }
}
