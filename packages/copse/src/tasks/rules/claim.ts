/**
 * Claims, leases and fencing.
 *
 * A claim is history: which session took a task, with which token. A lease is liveness: until when the claim is valid
 * without a renewal. Claims are events; renewals are not, because there would be too many.
 *
 *   token   grows by one with every claim of the task and is never given out twice
 *   lease   exists exactly while the task is in_progress; renewing needs the task's highest token
 *   expiry  says nothing about the old process: a late renewal with the highest token still succeeds. After another
 *           claim, the older token changes nothing. Times are by the clock of the machine that wrote them, so no machine
 *           judges by them whether another lives: it observes silence (agents/act/observe.ts, queue/lead/leadership.ts)
 *   delay   until a time by the clock of the machine that recorded it. It spaces retries and says nothing about liveness:
 *           on a machine whose clock differs, a retry comes earlier or later by the difference
 */

import { type Decision, type Refused, decided, refused } from '../../kernel/decision.ts';
import type {
  AgentName,
  AttemptId,
  FencingToken,
  NodeId,
  SessionId,
  TaskId,
  Timestamp,
} from '../../kernel/ids.ts';
import type { Policy } from '../../kernel/policy.ts';
import { type Claim, type Task, delayCauses, statusPredicate, refusedFor, whereText } from './task.ts';
import type { TaskEvent } from './events.ts';

/** Who is to hold a task. `grant` chooses the token. */
export interface Claimant {
  readonly session: SessionId;
  readonly attempt: AttemptId;
  readonly node: NodeId;
  readonly agent: AgentName;
  /** A person works on it, so no process renews the lease. */
  readonly isByHand?: true;
}

export interface Lease {
  readonly task: TaskId;
  readonly token: FencingToken;
  readonly renewedAt: Timestamp;
  readonly expiresAt: Timestamp;
}

type LeasePolicy = Pick<Policy['lease'], 'durationMs'>;

export function decideClaim(
  task: Pick<Task, 'id' | 'state' | 'token' | 'dependsOn'>,
  claimant: Claimant,
  at: Timestamp,
  policy: LeasePolicy,
): Decision<TaskEvent> {
  if (task.state.status !== 'ready') {
    const act = claimant.isByHand === true ? 'work on' : 'claim';
    return refusedFor(task, `Cannot ${act} ${task.id}: it ${whereText(task)}.`);
  }
  const { delay } = task.state;
  // A delay spaces the retries of agents; a person who takes the task may begin at once.
  if (delay !== null && delay.until > at && claimant.isByHand !== true) {
    const because = delayCauses[delay.because];
    return refused(
      'too_early',
      `${task.id} waits ${Math.ceil((delay.until - at) / 1_000)} s more because ${because}.`,
      `copse why ${task.id}`,
    );
  }
  return decided({ type: 'task.claimed', id: task.id, at, ...grant(task, claimant, at, policy) });
}

/** The next claim on a task: one token above every earlier one. */
export function grant(
  task: Pick<Task, 'token'>,
  claimant: Claimant,
  at: Timestamp,
  policy: LeasePolicy,
): { readonly claim: Claim; readonly leaseUntil: Timestamp } {
  const token = (task.token + 1) as FencingToken;
  return { claim: { ...claimant, token }, leaseUntil: leaseEnd(at, policy) };
}

/** A refusal unless the token is the one that holds the task now. */
export function refuseUnlessHeld(
  task: Pick<Task, 'id' | 'state' | 'token'>,
  token: FencingToken,
): Refused | undefined {
  if (task.state.status === 'in_progress' && task.state.claim.token === token) return undefined;
  if (token === task.token) {
    return refusedFor(
      task,
      `This session no longer holds ${task.id}: it ${statusPredicate(task.state.status)}.`,
    );
  }
  return refused(
    'fenced',
    `Another session took over ${task.id}: this session has token ${token}, the task is at ${task.token}.`,
    `Stop working on ${task.id}, and leave its worktree as it is.`,
    `copse show ${task.id}`,
  );
}

export type Renewal =
  | { readonly kind: 'renewed'; readonly lease: Lease }
  | { readonly kind: 'fenced' | 'not_held' };

export function decideRenewal(
  lease: Lease | undefined,
  token: FencingToken,
  at: Timestamp,
  policy: LeasePolicy,
): Renewal {
  if (lease === undefined) return { kind: 'not_held' };
  if (lease.token !== token) return { kind: 'fenced' };
  // Clocks differ and jump: a renewal never shortens the lease, and always has a later time than the one before.
  const renewedAt = Math.max(lease.renewedAt + 1, at) as Timestamp;
  const expiresAt = Math.max(lease.expiresAt, leaseEnd(at, policy)) as Timestamp;
  return { kind: 'renewed', lease: { ...lease, renewedAt, expiresAt } };
}

function leaseEnd(at: Timestamp, policy: LeasePolicy): Timestamp {
  return (at + policy.durationMs) as Timestamp;
}
