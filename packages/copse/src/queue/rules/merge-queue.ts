/**
 * The queue of a target branch as the board stores it: its two pause switches, the state of the decision
 * (decide/state.ts), and the running checks.
 */

import type { EventHead } from '../../kernel/evolution.ts';
import { type Decision, decided, refused } from '../../kernel/decision.ts';
import { unreachable } from '../../kernel/unreachable.ts';
import type { BranchName, CommitId, LandingId, NodeId, Timestamp } from '../../kernel/ids.ts';
import type { Purpose } from './decide/decide.ts';
import type { ProcessIdentity } from '../../kernel/process.ts';
import { type QueueState, emptyQueueState, withoutTrouble } from './decide/state.ts';
import { type StoredWaitReason, type WaitReason, readWaitReason } from './wait-reason.ts';

/** `accept`: tasks queued from now on wait. `land`: the target does not move and no check starts. */
export type QueueSwitch = 'accept' | 'land';

export interface Pause {
  readonly since: Timestamp;
  readonly reason: string | null;
}

/** A running check of one candidate. */
export interface CheckRun {
  readonly run: number;
  readonly purpose: Purpose;
  readonly commit: CommitId;
  /** Merged onto the target in this order. */
  readonly landings: readonly LandingId[];
  readonly slot: number;
  readonly node: NodeId;
  /** The process that runs it; absent where the system does not tell processes apart. */
  readonly process?: ProcessIdentity;
  readonly since: Timestamp;
}

export interface MergeQueue {
  readonly id: BranchName;
  readonly paused: { readonly [S in QueueSwitch]: Pause | null };
  readonly state: QueueState;
  readonly runs: readonly CheckRun[];
  /** Set while entries wait and neither a check nor a landing is under way. */
  readonly stalled: { readonly since: Timestamp; readonly reason: WaitReason } | null;
}

type Of<T extends string> = EventHead<T, BranchName>;

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
    const doing = what === 'accept' ? 'accepts no new tasks' : 'lands nothing';
    return refused('wrong_status', `The queue of ${queue.id} already ${doing}.`, 'copse queue resume');
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

/** Checks that could not run start at once, and a red target is checked again. Null when neither applies. */
export function decideRetryQueue({ id, state }: MergeQueue, at: Timestamp): Decision<MergeQueueEvent> | null {
  if (state.trouble === null && state.audit?.verdict !== 'red') return null;
  return decided({ type: 'queue.retried', id, at });
}

/**
 * The state that the leader is about to write, without trouble if a person asked for a retry since the leader read the
 * board. Only the leader and a retry change the state.
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
      return unreachable(event);
  }
}
