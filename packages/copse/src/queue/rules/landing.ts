/**
 * A landing: one finished branch on its way to the target branch.
 *
 *   queued → merging → landed              without checks
 *   queued → checking → landed             with checks: part of a batch that is checked or was found green
 *
 * or conflicted, rejected (checks), withdrawn. Its identity is the head it was queued with: a branch that moves while
 * queued keeps its place with a new head, and verdicts about the old head do not apply to it.
 *
 * Before the target moves, the intent {oldTip, newTip} is journalled. From then on the landing cannot be withdrawn: the
 * leader finishes it, or requeues it after it has read that the target did not move to `newTip`.
 */

import { type Decision, type Refused, decided, refused } from '../../kernel/decision.ts';
import { unreachable } from '../../kernel/unreachable.ts';
import { type EventHead, existing, mustBeNew } from '../../kernel/evolution.ts';
import type {
  AttemptId,
  BranchName,
  CommitId,
  FencingToken,
  LandingId,
  TaskId,
  Timestamp,
} from '../../kernel/ids.ts';
import type { PullRequest } from '../../review/rules/pull-request.ts';
import { type StoredWaitReason, type WaitReason, readWaitReason } from './wait-reason.ts';

interface Intent {
  readonly oldTip: CommitId;
  /** The target moves here. Other landings may be part of the same move. */
  readonly newTip: CommitId;
  /** What this landing becomes; the new tip contains it. */
  readonly commit: CommitId;
  /** The tree of the new tip passed all checks. */
  readonly isVerified: boolean;
}

/** How a branch becomes part of the target. */
export const mergeMethods = ['rebase', 'merge', 'squash'] as const;
export type MergeMethod = (typeof mergeMethods)[number];

/** Why the target may move to a tree. */
export type Proof =
  /** There are no checks. */
  | { readonly kind: 'none_asked_for' }
  /** A person takes responsibility. */
  | { readonly kind: 'skipped' }
  /** Keys of the green checks of exactly this tree, and of the required ones. */
  | { readonly kind: 'checked'; readonly green: readonly string[]; readonly required: readonly string[] };

type LandingState =
  | { readonly status: 'queued'; readonly since: Timestamp }
  | { readonly status: 'merging'; readonly since: Timestamp; readonly intent: Intent | null }
  | {
      readonly status: 'checking';
      readonly since: Timestamp;
      readonly candidate: CommitId;
      readonly intent: Intent | null;
    }
  | {
      readonly status: 'landed';
      readonly since: Timestamp;
      readonly commit: CommitId;
      readonly isVerified: boolean;
    }
  | {
      readonly status: 'conflicted';
      readonly since: Timestamp;
      readonly files: readonly string[];
      readonly with: readonly TaskId[];
    }
  | { readonly status: 'rejected'; readonly since: Timestamp; readonly reason: string }
  | { readonly status: 'withdrawn'; readonly since: Timestamp; readonly reason: string };

export type LandingStatus = LandingState['status'];

const IS_OPEN: Readonly<Record<LandingStatus, boolean>> = {
  queued: true,
  merging: true,
  checking: true,
  landed: false,
  conflicted: false,
  rejected: false,
  withdrawn: false,
};

/** In the queue. */
export const openLandingStatuses: readonly LandingStatus[] = Object.entries(IS_OPEN)
  .filter(([, isOpen]) => isOpen)
  .map(([status]) => status as LandingStatus);

export interface Landing {
  readonly id: LandingId;
  readonly task: TaskId;
  readonly target: BranchName;
  readonly attempt: AttemptId | null;
  readonly head: CommitId;
  /** Its head is on the remote under the ref of this token. The task's own grows with a new term of the board. */
  readonly token?: FencingToken;
  /** A person approved exactly this head; another head must be reviewed again. */
  readonly isReviewed?: true;
  /** It was in review with this one, and goes back to it when it is taken out of the queue. */
  readonly pullRequest?: PullRequest;
  readonly queuedAt: Timestamp;
  /** To the front, and checked alone. */
  readonly isHotfix: boolean;
  /** A person lets it land without checks. */
  readonly isUnchecked: boolean;
  /** How it was merged, if that is special: what resolved a conflict, or that it could not be rebased. */
  readonly note?: string;
  /** Why it cannot land yet although nothing is wrong with it. */
  readonly waiting: WaitReason | null;
  readonly state: LandingState;
}

export const landingTransitions = {
  merge: { queued: ['merging'] },
  check: { queued: ['checking'], merging: ['checking'], checking: ['checking'] },
  journal: { merging: ['merging'], checking: ['checking'] },
  land: { merging: ['landed'], checking: ['landed'] },
  requeue: { queued: ['queued'], merging: ['queued'], checking: ['queued'] },
  conflict: { queued: ['conflicted'], merging: ['conflicted'], checking: ['conflicted'] },
  reject: { queued: ['rejected'], merging: ['rejected'], checking: ['rejected'] },
  hurry: { queued: ['queued'], merging: ['merging'], checking: ['checking'] },
  skip_checks: { queued: ['queued'], merging: ['merging'], checking: ['checking'] },
  note: { queued: ['queued'], merging: ['merging'], checking: ['checking'] },
  wait: { queued: ['queued'], merging: ['queued'], checking: ['queued'] },
  withdraw: { queued: ['withdrawn'], merging: ['withdrawn'], checking: ['withdrawn'] },
} as const satisfies Readonly<
  Record<string, Partial<Readonly<Record<LandingStatus, readonly LandingStatus[]>>>>
>;

export type LandingAction = keyof typeof landingTransitions;

type Of<T extends string> = EventHead<T, LandingId>;

export type LandingEvent =
  | (Of<'landing.queued'> &
      Pick<Landing, 'task' | 'target' | 'attempt' | 'head' | 'token' | 'isReviewed' | 'pullRequest'>)
  | Of<'landing.merging'>
  | (Of<'landing.checking'> & { readonly candidate: CommitId })
  | (Of<'landing.journalled'> & { readonly intent: Intent })
  | (Of<'landing.landed'> & { readonly commit: CommitId })
  | Of<'landing.hurried'>
  | Of<'landing.checks_skipped'>
  /** Null: it merges cleanly now. */
  | (Of<'landing.noted'> & { readonly note: string | null })
  | (Of<'landing.requeued'> & { readonly head: CommitId; readonly reason: string })
  | (Of<'landing.waiting'> & { readonly reason: StoredWaitReason })
  | (Of<'landing.conflicted'> & { readonly files: readonly string[]; readonly with: readonly TaskId[] })
  | (Of<'landing.rejected'> & { readonly reason: string })
  | (Of<'landing.withdrawn'> & { readonly reason: string });

export type LandingRequest =
  | { readonly action: 'merge' }
  | { readonly action: 'check'; readonly candidate: CommitId }
  | {
      readonly action: 'journal';
      readonly intent: Omit<Intent, 'isVerified'>;
      readonly proof: Proof;
    }
  | { readonly action: 'hurry' }
  | { readonly action: 'skip_checks' }
  | { readonly action: 'note'; readonly note: string | null }
  | { readonly action: 'land'; readonly commit: CommitId }
  | { readonly action: 'requeue'; readonly head: CommitId; readonly reason: string }
  | { readonly action: 'wait'; readonly reason: WaitReason }
  | { readonly action: 'conflict'; readonly files: readonly string[]; readonly with: readonly TaskId[] }
  | { readonly action: 'reject'; readonly reason: string }
  | { readonly action: 'withdraw'; readonly reason: string };

export function decideLanding(
  landing: Landing,
  request: LandingRequest,
  at: Timestamp,
): Decision<LandingEvent> {
  const refusal = refuseUnlessPossible(landing, request);
  if (refusal) return refusal;
  const of = { id: landing.id, at };
  switch (request.action) {
    case 'merge':
      return decided({ type: 'landing.merging', ...of });
    case 'check':
      return decided({ type: 'landing.checking', ...of, candidate: request.candidate });
    case 'journal': {
      const isVerified = request.proof.kind === 'checked';
      return decided({ type: 'landing.journalled', ...of, intent: { ...request.intent, isVerified } });
    }
    case 'hurry':
      return decided({ type: 'landing.hurried', ...of });
    case 'skip_checks':
      return decided({ type: 'landing.checks_skipped', ...of });
    case 'note':
      return decided({ type: 'landing.noted', ...of, note: request.note });
    case 'land':
      return decided({ type: 'landing.landed', ...of, commit: request.commit });
    case 'requeue':
      return decided({ type: 'landing.requeued', ...of, head: request.head, reason: request.reason });
    case 'wait':
      return decided({ type: 'landing.waiting', ...of, reason: request.reason });
    case 'conflict':
      return decided({ type: 'landing.conflicted', ...of, files: request.files, with: request.with });
    case 'reject':
      return decided({ type: 'landing.rejected', ...of, reason: request.reason });
    case 'withdraw':
      return decided({ type: 'landing.withdrawn', ...of, reason: request.reason });
    default:
      return unreachable(request);
  }
}

/** Its intent is journalled: the target may already have moved. */
export function isCommitted(landing: Landing): boolean {
  return 'intent' in landing.state && landing.state.intent !== null;
}

export function evolveLanding(landing: Landing | undefined, event: LandingEvent): Landing {
  if (event.type === 'landing.queued') {
    mustBeNew(landing, event);
    return newLanding(event);
  }
  const before = existing(landing, event);
  const since = event.at;
  const moved = (state: LandingState): Landing => ({ ...before, waiting: null, state });
  switch (event.type) {
    case 'landing.merging':
      return moved({ status: 'merging', since, intent: null });
    case 'landing.checking':
      return moved({ status: 'checking', since, candidate: event.candidate, intent: null });
    case 'landing.journalled': {
      const { state } = before;
      if (state.status !== 'merging' && state.status !== 'checking')
        throw new Error(`${before.id} was journalled while ${state.status}`);
      return moved({ ...state, intent: intentOf(event.intent) });
    }
    case 'landing.landed': {
      const { state } = before;
      const isVerified = 'intent' in state && state.intent?.isVerified === true;
      return moved({ status: 'landed', since, commit: event.commit, isVerified });
    }
    case 'landing.hurried':
      return { ...before, isHotfix: true };
    case 'landing.checks_skipped':
      return { ...before, isUnchecked: true };
    case 'landing.noted':
      return event.note === null ? withoutNote(before) : { ...before, note: event.note };
    case 'landing.requeued': {
      // A note is about the head that was merged.
      const kept = before.head === event.head ? before : withoutNote(before);
      return { ...kept, head: event.head, waiting: null, state: { status: 'queued', since } };
    }
    case 'landing.waiting':
      return { ...before, waiting: readWaitReason(event.reason), state: { status: 'queued', since } };
    case 'landing.conflicted':
      return moved({ status: 'conflicted', since, files: event.files, with: event.with });
    case 'landing.rejected':
      return moved({ status: 'rejected', since, reason: event.reason });
    case 'landing.withdrawn':
      return moved({ status: 'withdrawn', since, reason: event.reason });
    default:
      return unreachable(event);
  }
}

function newLanding(event: Extract<LandingEvent, { type: 'landing.queued' }>): Landing {
  const { id, task, target, attempt, head, token, at, isReviewed, pullRequest } = event;
  return {
    id,
    task,
    target,
    attempt,
    head,
    queuedAt: at,
    isHotfix: false,
    isUnchecked: false,
    ...(token !== undefined && { token }),
    ...(isReviewed && { isReviewed }),
    ...(pullRequest && { pullRequest }),
    waiting: null,
    state: { status: 'queued', since: at },
  };
}

/** A landing as a board stores it: `waiting` may be a sentence, from before reasons were data. */
export function readLanding(stored: Landing): Landing {
  const { waiting }: { readonly waiting: StoredWaitReason | null } = stored;
  return typeof waiting === 'string' ? { ...stored, waiting: readWaitReason(waiting) } : stored;
}

function withoutNote(landing: Landing): Landing {
  const { note: _, ...others } = landing;
  return others;
}

/** Older journals, from when one move landed one task, hold only the two tips. */
function intentOf(intent: Pick<Intent, 'oldTip' | 'newTip'> & Partial<Intent>): Intent {
  return { commit: intent.newTip, isVerified: false, ...intent };
}

const ALLOWED_ONCE_JOURNALLED: Readonly<Record<LandingAction, boolean>> = {
  land: true,
  requeue: true,
  wait: true,
  merge: false,
  check: false,
  journal: false,
  conflict: false,
  reject: false,
  hurry: false,
  skip_checks: false,
  note: false,
  withdraw: false,
};

function refuseUnlessPossible(landing: Landing, request: LandingRequest): Refused | undefined {
  const { action } = request;
  const { status } = landing.state;
  const from: Partial<Record<LandingStatus, readonly LandingStatus[]>> = landingTransitions[action];
  if (from[status] === undefined) {
    return refused(
      'wrong_status',
      `Cannot ${action.replaceAll('_', ' ')} the landing of ${landing.task}: it is ${status}.`,
      `copse show ${landing.task}`,
    );
  }
  if (isCommitted(landing) && !ALLOWED_ONCE_JOURNALLED[action]) {
    return refused(
      'already_landing',
      `${landing.task} is already landing: the move of ${landing.target} is journalled and will be completed.`,
      `copse why ${landing.task}`,
    );
  }
  if (action === 'land' && !isCommitted(landing)) {
    return refused(
      'wrong_status',
      `The landing of ${landing.task} has no journalled intent, so ${landing.target} cannot have moved for it.`,
      `copse why ${landing.task}`,
    );
  }
  if (request.action === 'requeue' && landing.isReviewed && request.head !== landing.head) {
    return refused(
      'wrong_status',
      `The branch of ${landing.task} moved after its review: only reviewed commits may land.`,
      `copse review ${landing.task}`,
    );
  }
  return request.action === 'journal' ? refuseUnlessProven(landing, request.proof) : undefined;
}

/** With checks, the target moves only to a tree that passed all of them. */
function refuseUnlessProven({ task, isUnchecked }: Landing, proof: Proof): Refused | undefined {
  switch (proof.kind) {
    case 'none_asked_for':
      return undefined;
    case 'skipped':
      return isUnchecked
        ? undefined
        : refused('wrong_status', `${task} needs passing checks.`, `copse why ${task}`);
    case 'checked': {
      const lacking = proof.required.find((key) => !proof.green.includes(key));
      if (lacking === undefined && proof.required.length > 0) return undefined;
      return refused(
        'wrong_status',
        `The tree that ${task} would land with has not passed ${lacking ?? 'any check'}.`,
        `copse why ${task}`,
      );
    }
    default:
      return unreachable(proof);
  }
}
