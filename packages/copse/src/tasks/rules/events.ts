/** The events of a task, and how each changes it. */

import { unreachable } from '../../kernel/unreachable.ts';
import { type EventHead, existing, mustBeNew } from '../../kernel/evolution.ts';
import { raised } from '../../board/rules/term.ts';
import type { CommitId, FencingToken, LandingId, TaskId, Timestamp } from '../../kernel/ids.ts';
import type { PullRequest } from '../../review/rules/pull-request.ts';
import type {
  AddedBy,
  AttentionCause,
  Claim,
  Delay,
  DiscardedWork,
  DoneHow,
  HandbackReason,
  MoveTarget,
  StuckBy,
  Task,
  TaskDefinition,
  TaskOrigin,
  TaskState,
} from './task.ts';

type Of<T extends string> = EventHead<T, TaskId>;

/** A new claim, and the end of its lease without a renewal. */
interface Granted {
  readonly claim: Claim;
  readonly leaseUntil: Timestamp;
  /** Of an agent that works in another repository than the board's. */
  readonly repository?: string;
}

export type TaskEdit = Partial<Omit<TaskDefinition, 'dependsOn'>>;

export type TaskEvent =
  | (Of<'task.created'> & {
      readonly definition: TaskDefinition;
      readonly status: 'pending' | 'ready';
      readonly addedBy?: AddedBy;
      readonly origin?: TaskOrigin;
    })
  | (Of<'task.edited'> & { readonly changes: TaskEdit })
  | (Of<'task.dependencies_changed'> & {
      readonly dependsOn: readonly TaskId[];
      readonly status: 'pending' | 'ready';
    })
  | Of<'task.promoted'>
  | (Of<'task.claimed'> & Granted)
  | (Of<'task.resumed'> & Granted)
  | (Of<'task.restarted'> & {
      readonly grant: Granted | null;
      /** No person asked for it: which restart it is, and of how many. */
      readonly automatic?: { readonly number: number; readonly of: number };
    })
  | (Of<'task.handed_back'> & {
      readonly because: HandbackReason;
      readonly reason: string;
      /** Null while the session that finished still holds the task; otherwise the claim of its successor. */
      readonly grant: Granted | null;
    })
  | (Of<'task.sent_to_review'> & { readonly head: CommitId; readonly pullRequest: PullRequest | null })
  | (Of<'task.pull_request_changed'> & { readonly pullRequest: PullRequest })
  | (Of<'task.queued'> & { readonly landing: LandingId })
  | (Of<'task.done'> & {
      readonly how: DoneHow;
      readonly commit: CommitId | null;
      readonly head?: CommitId;
    })
  | (Of<'task.stuck'> & { readonly reason: string } & StuckBy)
  | (Of<'task.crashed'> & { readonly reason: string; readonly retries: number; readonly delay: Delay | null })
  /** By its settings, not by a crash. */
  | (Of<'task.failed'> & { readonly reason: string })
  | (Of<'task.parked'> & { readonly until: Timestamp; readonly because: ParkCause })
  | (Of<'task.needs_attention'> & {
      readonly because: AttentionCause;
      readonly reason: string;
      readonly resolver?: TaskId;
    })
  | Of<'task.paused'>
  /** A person began it anew: no machine goes on from these. */
  | (Of<'task.reset'> & DiscardedWork)
  /** Null: any node may take it again. */
  | (Of<'task.moved'> & { readonly to: MoveTarget | null })
  | (Of<'task.cancelled'> & { readonly reason: string | null })
  /** The board's server was replaced: see board/rules/term.ts. A session that holds the task keeps its claim. */
  | (Of<'task.token_raised'> & { readonly token: FencingToken })
  | Of<'task.deleted'>;

/** Why a task is postponed without having failed. */
export type ParkCause = Exclude<Delay['because'], 'crash'>;

export function evolveTask(task: Task | undefined, event: TaskEvent): Task | undefined {
  if (event.type === 'task.created') {
    mustBeNew(task, event);
    return created(event);
  }
  const before = existing(task, event);
  if (event.type === 'task.deleted') return undefined;
  if (event.type === 'task.token_raised') return { ...before, token: event.token };
  return { ...before, ...settled(before, event), ...changed(before, event), updatedAt: event.at };
}

function created(event: Extract<TaskEvent, { type: 'task.created' }>): Task {
  return {
    ...event.definition,
    id: event.id,
    createdAt: event.at,
    updatedAt: event.at,
    state: waiting(event.status, event.at),
    token: 0 as FencingToken,
    retries: 0,
    handbacks: {},
    session: null,
    ...(event.addedBy && { addedBy: event.addedBy }),
    ...(event.origin && { origin: event.origin }),
  };
}

export function raisedTask({ id, token }: Pick<Task, 'id' | 'token'>, at: Timestamp): TaskEvent {
  return { type: 'task.token_raised', id, at, token: raised(token) };
}

function changed(
  task: Task,
  event: Exclude<TaskEvent, { type: 'task.created' | 'task.deleted' | 'task.token_raised' }>,
): Partial<Task> {
  const since = event.at;
  switch (event.type) {
    case 'task.edited':
      return event.changes;
    case 'task.dependencies_changed':
      return {
        dependsOn: event.dependsOn,
        state: event.status === task.state.status ? task.state : waiting(event.status, since),
      };
    case 'task.promoted':
      return { state: waiting('ready', since) };
    case 'task.claimed':
      return held(event, since);
    case 'task.resumed':
      return { ...held(event, since), handbacks: {}, ...byPerson(task) };
    case 'task.restarted':
      return {
        ...(event.grant === null ? { state: waiting('ready', since) } : held(event.grant, since)),
        retries: 0,
        handbacks: {},
        ...(event.automatic === undefined ? byPerson(task) : { autoRestarts: event.automatic.number }),
      };
    case 'task.handed_back':
      return {
        ...(event.grant === null ? {} : held(event.grant, since)),
        handbacks: { ...task.handbacks, [event.because]: (task.handbacks[event.because] ?? 0) + 1 },
      };
    case 'task.sent_to_review':
      return { state: { status: 'in_review', since, head: event.head, pullRequest: event.pullRequest } };
    case 'task.pull_request_changed':
      if (task.state.status !== 'in_review')
        throw new Error(`${task.id} is not in review, so its pull request cannot change`);
      return { state: { ...task.state, pullRequest: event.pullRequest } };
    case 'task.queued':
      return { state: { status: 'landing', since, landing: event.landing } };
    case 'task.done':
      return {
        state: {
          status: 'done',
          since,
          how: event.how,
          commit: event.commit,
          ...(event.head !== undefined && { head: event.head }),
        },
        retries: 0,
      };
    case 'task.stuck': {
      const { reason, isByCopse, isByHand, lacks } = event;
      const by = { ...(isByCopse && { isByCopse }), ...(isByHand && { isByHand }), ...(lacks && { lacks }) };
      return { state: { status: 'stuck', since, reason, ...by } };
    }
    case 'task.crashed':
      return {
        retries: event.retries,
        state:
          event.delay === null
            ? { status: 'failed', since, reason: event.reason }
            : { status: 'ready', since, delay: event.delay },
      };
    case 'task.parked':
      return { state: { status: 'ready', since, delay: { until: event.until, because: event.because } } };
    case 'task.failed':
      return { state: { status: 'failed', since, reason: event.reason } };
    case 'task.needs_attention': {
      const { because, reason, resolver } = event;
      const state = { status: 'needs_attention', since, because, reason } as const;
      return { state: resolver === undefined ? state : { ...state, resolver } };
    }
    case 'task.reset':
      return { discarded: { upTo: event.upTo, workspaces: event.workspaces } };
    case 'task.paused':
      return { state: { status: 'paused', since } };
    case 'task.moved':
      return { moveTo: event.to };
    case 'task.cancelled':
      return { state: { status: 'cancelled', since, reason: event.reason } };
    default:
      return unreachable(event);
  }
}

/** Records of older boards have no count, and get none. */
function byPerson({ autoRestarts }: Task): Pick<Task, 'autoRestarts'> {
  return autoRestarts === undefined ? {} : { autoRestarts: 0 };
}

/** Where a person moved it holds until an attempt takes it, or it needs none any more. */
function settled(task: Task, { type }: TaskEvent): Pick<Task, 'moveTo'> {
  return task.moveTo == null || KEEPS_MOVE.has(type) ? {} : { moveTo: null };
}

const KEEPS_MOVE: ReadonlySet<TaskEvent['type']> = new Set([
  'task.edited',
  'task.dependencies_changed',
  'task.promoted',
  'task.crashed',
  'task.parked',
  'task.moved',
  'task.reset',
]);

function waiting(status: 'pending' | 'ready', since: Timestamp): TaskState {
  return status === 'pending' ? { status, since } : { status, since, delay: null };
}

function held(
  { claim, repository }: Granted,
  since: Timestamp,
): Pick<Task, 'state' | 'token' | 'session' | 'repository'> {
  const { token, session } = claim;
  const place = repository === undefined ? {} : { repository };
  return { state: { status: 'in_progress', since, claim }, token, session, ...place };
}
