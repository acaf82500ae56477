/**
 * How work on a task ends: finished, stuck, crashed, parked, handed back, landed or given up.
 *
 * A session's report and an observed crash carry a fencing token; a report of the queue names its landing. One that
 * carries an older token or another landing is refused.
 */

import { type Claimant, grant, refuseUnlessHeld } from './claim.ts';
import { backoffMs } from '../../kernel/backoff.ts';
import { type Decision, type Refused, decided, refused } from '../../kernel/decision.ts';
import type {
  AttemptId,
  BranchName,
  CommitId,
  FencingToken,
  LandingId,
  TaskId,
  Timestamp,
} from '../../kernel/ids.ts';
import { type Landing, type LandingEvent, decideLanding } from '../../queue/rules/landing.ts';
import { type Policy, defaultPolicy } from '../../kernel/policy.ts';
import { type PullRequest, isSame } from '../../review/rules/pull-request.ts';
import {
  type AttentionCause,
  type DoneHow,
  type HandbackReason,
  type StuckBy,
  type Task,
  refuseUnlessAllowed,
  statusPredicate,
  refusedFor,
  wrongStatus,
} from './task.ts';
import type { ParkCause, TaskEvent } from './events.ts';

type TaskOutcome = Decision<TaskEvent | LandingEvent>;

/** A branch that enters the queue, and the commit that is to land. */
export interface NewLanding {
  readonly landing: LandingId;
  readonly target: BranchName;
  readonly attempt: AttemptId | null;
  readonly head: CommitId;
  /** Of the ref that has it on the remote. */
  readonly token?: FencingToken;
  /** A person approved exactly this head. */
  readonly isReviewed?: true;
  /** The pull request that it was reviewed in. */
  readonly pullRequest?: PullRequest;
}

export type Finish =
  | { readonly kind: 'review'; readonly head: CommitId; readonly pullRequest: PullRequest | null }
  | ({ readonly kind: 'landing' } & NewLanding)
  | { readonly kind: 'done'; readonly how: DoneHow; readonly commit: CommitId | null };

export function decideFinish(task: Task, token: FencingToken, finish: Finish, at: Timestamp): TaskOutcome {
  const refusal = refuseUnlessHeld(task, token) ?? refuseUnlessAllowed(task, 'finish');
  if (refusal) return refusal;
  const of = { id: task.id, at };
  if (finish.kind !== 'done') return decided(...decideSubmit(task.id, finish, at));
  return decided({ type: 'task.done', ...of, how: finish.how, commit: finish.commit });
}

export function decideStuck(
  task: Task,
  token: FencingToken,
  reason: string,
  at: Timestamp,
  { isByCopse, lacks }: Omit<StuckBy, 'isByHand'> = {},
): Decision<TaskEvent> {
  const refusal = refuseUnlessHeld(task, token) ?? refuseUnlessAllowed(task, 'stuck');
  if (refusal) return refusal;
  if (reason.trim() === '') {
    return refused(
      'invalid',
      `${task.id} cannot be stuck without a reason: say what only a person can decide.`,
      'copse stuck --reason "…"',
    );
  }
  const isByHand = task.state.status === 'in_progress' && task.state.claim.isByHand;
  const by = { ...(isByCopse && { isByCopse }), ...(isByHand && { isByHand }), ...(lacks && { lacks }) };
  return decided({ type: 'task.stuck', id: task.id, at, reason, ...by });
}

const LOST_MACHINE_MS = defaultPolicy.lease.lostMachineMs;

/** `token` belongs to the dead attempt: a crash that is noticed late must not end its successor. */
export function decideCrash(
  task: Task,
  token: FencingToken,
  reason: string,
  at: Timestamp,
  policy: Policy['retry'],
): Decision<TaskEvent> {
  const refusal = refuseUnlessHeld(task, token) ?? refuseUnlessAllowed(task, 'crash');
  if (refusal) return refusal;
  const retries = task.retries + 1;
  const { firstBackoffMs: firstMs, maxBackoffMs: mostMs } = policy;
  const until = (at + backoffMs(retries, { firstMs, mostMs })) as Timestamp;
  const delay = retries < policy.maxRetries ? ({ until, because: 'crash' } as const) : null;
  return decided({ type: 'task.crashed', id: task.id, at, reason, retries, delay });
}

/** A machine that is lost says nothing about the task, which another one continues: its delays begin shorter. */
export function afterLostMachine(policy: Policy['retry']): Policy['retry'] {
  return { ...policy, firstBackoffMs: Math.min(policy.firstBackoffMs, LOST_MACHINE_MS) };
}

/** For work that its settings do not let pass: it is not retried. */
export function decideFail(
  task: Task,
  token: FencingToken,
  reason: string,
  at: Timestamp,
): Decision<TaskEvent> {
  return (
    refuseUnlessHeld(task, token) ??
    refuseUnlessAllowed(task, 'fail') ??
    decided({ type: 'task.failed', id: task.id, at, reason })
  );
}

/** A rate limit, or a branch that is in use elsewhere: the task waits and keeps its retries. */
export function decidePark(
  task: Task,
  token: FencingToken,
  { until, because }: { readonly until: Timestamp; readonly because: ParkCause },
  at: Timestamp,
): Decision<TaskEvent> {
  return (
    refuseUnlessHeld(task, token) ??
    refuseUnlessAllowed(task, 'park') ??
    decided({ type: 'task.parked', id: task.id, at, until, because })
  );
}

export type Handback =
  | { readonly kind: 'gate'; readonly token: FencingToken }
  | { readonly kind: 'queue'; readonly landing: Landing; readonly claimant: Claimant };

export interface HandbackCause {
  readonly because: HandbackReason;
  readonly reason: string;
  readonly files?: readonly string[];
  readonly with?: readonly TaskId[];
}

/** Asks the same agent again; after the policy's number of handbacks, asks a person. */
export function decideHandback(
  task: Task,
  handback: Handback,
  cause: HandbackCause,
  at: Timestamp,
  policy: Pick<Policy, 'handback' | 'lease'>,
): TaskOutcome {
  const refusal =
    (handback.kind === 'gate' ? refuseUnlessHeld(task, handback.token) : undefined) ??
    refuseUnlessAllowed(task, 'handback') ??
    (handback.kind === 'queue' ? refuseUnlessIn(task, handback.landing) : undefined);
  if (refusal) return refusal;

  const used = task.handbacks[cause.because] ?? 0;
  const { because, reason } = cause;
  const of = { id: task.id, at, because, reason };
  const outOfHandbacks = used >= policy.handback[because];
  if (handback.kind === 'gate') {
    return outOfHandbacks
      ? decided({ type: 'task.needs_attention', ...of })
      : decided({ type: 'task.handed_back', ...of, grant: null });
  }
  const ended = endLanding(handback.landing, cause, at);
  if (ended.kind === 'refused') return ended;
  if (outOfHandbacks)
    return decided<TaskEvent | LandingEvent>({ type: 'task.needs_attention', ...of }, ...ended.events);
  const given = grant(task, handback.claimant, at, policy.lease);
  return decided<TaskEvent | LandingEvent>(
    { type: 'task.handed_back', ...of, grant: given },
    ...ended.events,
  );
}

export function decideGiveUp(
  task: Task,
  held: { readonly token: FencingToken } | { readonly landing: Landing } | { readonly head: CommitId },
  cause: { readonly because: AttentionCause; readonly reason: string; readonly resolver?: TaskId },
  at: Timestamp,
): TaskOutcome {
  const refusal =
    ('token' in held ? refuseUnlessHeld(task, held.token) : undefined) ??
    refuseUnlessAllowed(task, 'give_up') ??
    ('landing' in held ? refuseUnlessIn(task, held.landing) : undefined) ??
    ('head' in held ? refuseUnlessSubmitted(task, held.head) : undefined);
  if (refusal) return refusal;
  const event = { type: 'task.needs_attention', id: task.id, at, ...cause } as const;
  if (!('landing' in held)) return decided(event);
  const ended = endLanding(held.landing, cause, at);
  return ended.kind === 'decided' ? decided<TaskEvent | LandingEvent>(event, ...ended.events) : ended;
}

export function decideMerge(task: Task, landing: NewLanding, at: Timestamp): TaskOutcome {
  const pullRequest = task.state.status === 'in_review' ? task.state.pullRequest : null;
  const kept = pullRequest === null ? landing : { ...landing, pullRequest };
  return refuseUnlessAllowed(task, 'merge') ?? queued(task, kept, at);
}

/**
 * Takes a task out of the queue, back to review with its pull request: a person asked for it, or the branch moved after
 * the review. Refused once the move of the target is journalled.
 */
export function decideUnqueue(
  task: Task,
  landing: Landing,
  { head, reason }: { readonly head: CommitId; readonly reason: string },
  at: Timestamp,
): TaskOutcome {
  const refusal = refuseUnlessAllowed(task, 'unqueue') ?? refuseUnlessIn(task, landing);
  if (refusal) return refusal;
  const withdrawn = decideLanding(landing, { action: 'withdraw', reason }, at);
  if (withdrawn.kind === 'refused') return withdrawn;
  const pullRequest = landing.pullRequest ?? null;
  const back = { type: 'task.sent_to_review', id: task.id, at, head, pullRequest } as const;
  return decided<TaskEvent | LandingEvent>(...withdrawn.events, back);
}

/** Its finished commit was only on a machine that is gone: it is worked on again, from what the remote has of it. */
export function decideHeadLost(
  task: Task,
  landing: Landing,
  { reason, until }: { readonly reason: string; readonly until: Timestamp },
  at: Timestamp,
): TaskOutcome {
  const refusal = refuseUnlessAllowed(task, 'lose_head') ?? refuseUnlessIn(task, landing);
  if (refusal) return refusal;
  const withdrawn = decideLanding(landing, { action: 'withdraw', reason }, at);
  if (withdrawn.kind === 'refused') return withdrawn;
  const parked = { type: 'task.parked', id: task.id, at, until, because: 'head_lost' } as const;
  return decided<TaskEvent | LandingEvent>(...withdrawn.events, parked);
}

export type TaskLanding =
  | { readonly kind: 'landed'; readonly landing: Landing; readonly commit: CommitId }
  | {
      readonly kind: 'pull_request';
      readonly commit: CommitId | null;
      /** The submitted commit, and whether the merged commits contain its work. */
      readonly head: CommitId;
      readonly hasAll: boolean;
    }
  /** Landed with the work of the task that resolved its conflict. */
  | { readonly kind: 'resolved'; readonly commit: CommitId; readonly head: CommitId };

export function decideLand(task: Task, landed: TaskLanding, at: Timestamp): TaskOutcome {
  const refusal = refuseUnlessAllowed(task, 'land');
  if (refusal) return refusal;
  const of = { type: 'task.done', id: task.id, at, commit: landed.commit } as const;
  if (landed.kind === 'resolved') {
    const isWaiting = task.state.status === 'needs_attention' && task.state.because === 'conflict';
    if (!isWaiting) return wrongStatus(task, 'land');
    return decided({ ...of, how: 'landed', head: landed.head });
  }
  const done = { ...of, how: landed.kind };
  if (landed.kind === 'pull_request') {
    const { head, hasAll } = landed;
    return refuseUnlessSubmitted(task, head) ?? decided({ ...done, ...(hasAll && { head }) });
  }
  const mismatch = refuseUnlessIn(task, landed.landing);
  if (mismatch) return mismatch;
  const ended = decideLanding(landed.landing, { action: 'land', commit: landed.commit }, at);
  return ended.kind === 'decided' ? decided<TaskEvent | LandingEvent>(done, ...ended.events) : ended;
}

/** Null when nothing changed, so that polling records no event. */
export function decidePullRequest(
  task: Task,
  head: CommitId,
  pullRequest: PullRequest,
  at: Timestamp,
): Decision<TaskEvent> | null {
  const refusal = refuseUnlessAllowed(task, 'follow') ?? refuseUnlessSubmitted(task, head);
  if (refusal) return refusal;
  const before = task.state.status === 'in_review' ? task.state.pullRequest : null;
  if (before !== null && isSame(before, pullRequest)) return null;
  return decided({ type: 'task.pull_request_changed', id: task.id, at, pullRequest });
}

/** A poll of a pull request may be about an earlier submission: the task may have changed since. */
function refuseUnlessSubmitted(task: Task, head: CommitId): Refused | undefined {
  const { state } = task;
  if (state.status !== 'in_review') return wrongStatus(task, 'follow');
  if (state.pullRequest !== null && state.head === head) return undefined;
  return refusedFor(
    task,
    `${task.id} ${statusPredicate(state.status)}, but not with a pull request for ${head}.`,
  );
}

function queued(task: Task, landing: NewLanding, at: Timestamp): TaskOutcome {
  return decided(...decideSubmit(task.id, { kind: 'landing', ...landing }, at));
}

/** Finished work that goes on to a person or to the queue. */
export type Submission = Exclude<Finish, { readonly kind: 'done' }>;

/** The caller has checked that the task may be submitted. */
export function decideSubmit(
  id: TaskId,
  to: Submission,
  at: Timestamp,
): readonly [TaskEvent, ...(TaskEvent | LandingEvent)[]] {
  if (to.kind === 'review')
    return [{ type: 'task.sent_to_review', id, at, head: to.head, pullRequest: to.pullRequest }];
  const { landing, target, attempt, head, token, isReviewed, pullRequest } = to;
  const kept = {
    ...(token !== undefined && { token }),
    ...(isReviewed && { isReviewed }),
    ...(pullRequest && { pullRequest }),
  };
  const what = { task: id, target, attempt, head, ...kept };
  return [
    { type: 'task.queued', id, at, landing },
    { type: 'landing.queued', id: landing, at, ...what },
  ];
}

function refuseUnlessIn(task: Task, landing: Landing): Refused | undefined {
  if (task.state.status === 'landing' && task.state.landing === landing.id) return undefined;
  return refusedFor(task, `${task.id} ${statusPredicate(task.state.status)}, but not as ${landing.id}.`);
}

function endLanding(
  landing: Landing,
  cause: { because: AttentionCause; reason: string; files?: readonly string[]; with?: readonly TaskId[] },
  at: Timestamp,
): Decision<LandingEvent> {
  return cause.because === 'conflict'
    ? decideLanding(landing, { action: 'conflict', files: cause.files ?? [], with: cause.with ?? [] }, at)
    : decideLanding(landing, { action: 'reject', reason: cause.reason }, at);
}
