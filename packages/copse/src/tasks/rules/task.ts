/**
 * A task: one piece of work with one owner at a time.
 *
 *   pending → ready → in_progress → in_review | landing → done
 *
 * and beside that path paused, stuck, needs_attention, failed, cancelled. `taskTransitions` is the whole truth
 * about which action leads where; the decisions in task-decisions.ts consult it and nothing else.
 */

import { type Refused, refused } from '../../kernel/decision.ts';
import type {
  AgentName,
  AttemptId,
  CommitId,
  FencingToken,
  LandingId,
  NodeId,
  PlanId,
  SessionId,
  TaskId,
  Timestamp,
} from '../../kernel/ids.ts';
import type { Priority } from './priority.ts';
import type { PullRequest } from '../../review/rules/pull-request.ts';

export const taskStatuses = [
  'pending',
  'ready',
  'in_progress',
  'paused',
  'stuck',
  'in_review',
  'landing',
  'needs_attention',
  'done',
  'failed',
  'cancelled',
] as const;

export type TaskStatus = (typeof taskStatuses)[number];

/** Over: shown below the others, and never in the way of a query about live work. */
const finishedStatuses = ['done', 'cancelled'] as const satisfies readonly TaskStatus[];

export const taskKinds = ['code', 'non-code', 'import'] as const;
export type TaskKind = (typeof taskKinds)[number];

/** Where a task came from, when it came from outside; one work item becomes one task, once. */
export interface WorkItem {
  readonly source: string;
  readonly id: string;
  readonly url: string | null;
}

/** What a person says about a task. */
export interface TaskDefinition {
  readonly title: string;
  readonly body: string;
  readonly priority: Priority;
  readonly kind: TaskKind;
  readonly dependsOn: readonly TaskId[];
  readonly areas: readonly string[];
  readonly requires: readonly string[];
  readonly plan: PlanId | null;
  readonly agent: AgentName | null;
  readonly accept: readonly string[];
  readonly workItem: WorkItem | null;
}

/** One session's hold on a task. How long it still lasts is liveness, not history: see claim.ts. */
export interface Claim {
  readonly session: SessionId;
  readonly attempt: AttemptId;
  readonly node: NodeId;
  readonly agent: AgentName;
  /** A person works on it at a desk; no process renews the lease. */
  readonly isByHand?: true;
  readonly token: FencingToken;
}

export const handbackReasons = [
  'dirty',
  'nothing_committed',
  'commit_message',
  'accept',
  'conflict',
  'checks',
] as const;
export type HandbackReason = (typeof handbackReasons)[number];

/** Why finished work could not land and a person has to look. */
export type AttentionCause = HandbackReason | 'push';

export type DoneHow = 'landed' | 'pull_request' | 'artifacts' | 'no_changes' | 'as_it_is';

/** Why a ready task is not claimed before some time. */
export interface Delay {
  readonly until: Timestamp;
  readonly because: 'crash' | 'rate_limit' | 'taken' | 'handoff';
}

export type TaskState =
  | { readonly status: 'pending'; readonly since: Timestamp }
  | { readonly status: 'ready'; readonly since: Timestamp; readonly delay: Delay | null }
  | { readonly status: 'in_progress'; readonly since: Timestamp; readonly claim: Claim }
  | { readonly status: 'paused'; readonly since: Timestamp }
  | { readonly status: 'stuck'; readonly since: Timestamp; readonly reason: string }
  | {
      readonly status: 'in_review';
      readonly since: Timestamp;
      readonly head: CommitId;
      /** Null when a person is to review it here. */
      readonly pullRequest: PullRequest | null;
    }
  | { readonly status: 'landing'; readonly since: Timestamp; readonly landing: LandingId }
  | {
      readonly status: 'needs_attention';
      readonly since: Timestamp;
      readonly because: AttentionCause;
      readonly reason: string;
    }
  | {
      readonly status: 'done';
      readonly since: Timestamp;
      readonly how: DoneHow;
      readonly commit: CommitId | null;
      /** What was submitted, where what was merged instead, by a pull request or with a conflict resolved, has it. */
      readonly head?: CommitId;
    }
  | { readonly status: 'failed'; readonly since: Timestamp; readonly reason: string }
  | { readonly status: 'cancelled'; readonly since: Timestamp; readonly reason: string | null };

export interface Task extends TaskDefinition {
  readonly id: TaskId;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  readonly state: TaskState;
  /** The highest fencing token ever given out for this task; it only grows. */
  readonly token: FencingToken;
  /** Crashes since the last success or restart by a person. */
  readonly retries: number;
  readonly handbacks: { readonly [R in HandbackReason]?: number };
  /** The latest session; `resume` continues its conversation. */
  readonly session: SessionId | null;
}

/** A task as lists show it. Bodies may be large and are loaded one at a time. */
export type TaskSummary = Omit<Task, 'body'>;

export const taskActions = [
  'edit',
  'change_dependencies',
  'promote',
  'claim',
  'finish',
  'stuck',
  'crash',
  'park',
  'handback',
  'merge',
  'unqueue',
  'follow',
  'land',
  'give_up',
  'pause',
  'cancel',
  'restart',
  'resume',
  'delete',
] as const;

export type TaskAction = (typeof taskActions)[number];

/** Where an action leads from a status. A missing entry means that the action is refused there. */
type Transitions = Readonly<
  Record<TaskAction, Partial<Readonly<Record<TaskStatus, readonly (TaskStatus | 'deleted')[]>>>>
>;

const everywhere = <const T extends readonly (TaskStatus | 'deleted')[]>(to: T) =>
  Object.fromEntries(taskStatuses.map((status) => [status, to])) as Readonly<Record<TaskStatus, T>>;

export const taskTransitions: Transitions = {
  edit: Object.fromEntries(taskStatuses.map((status) => [status, [status]])),
  change_dependencies: { pending: ['pending', 'ready'], ready: ['pending', 'ready'] },
  promote: { pending: ['ready'] },
  claim: { ready: ['in_progress'] },
  finish: { in_progress: ['in_review', 'landing', 'done'] },
  stuck: { in_progress: ['stuck'] },
  crash: { in_progress: ['ready', 'failed'] },
  park: { in_progress: ['ready'] },
  handback: { in_progress: ['in_progress', 'needs_attention'], landing: ['in_progress', 'needs_attention'] },
  merge: { in_review: ['landing'], needs_attention: ['landing'] },
  unqueue: { landing: ['in_review'] },
  follow: { in_review: ['in_review'] },
  land: { landing: ['done'], in_review: ['done'], needs_attention: ['done'] },
  give_up: {
    in_progress: ['needs_attention'],
    landing: ['needs_attention'],
    in_review: ['needs_attention'],
  },
  pause: { in_progress: ['paused'], stuck: ['paused'] },
  cancel: {
    pending: ['cancelled'],
    ready: ['cancelled'],
    in_progress: ['cancelled'],
    stuck: ['cancelled'],
    failed: ['cancelled'],
    paused: ['cancelled'],
    in_review: ['cancelled'],
    needs_attention: ['cancelled'],
    landing: ['cancelled'],
  },
  restart: { stuck: ['in_progress'], failed: ['ready'] },
  resume: {
    paused: ['in_progress'],
    in_review: ['in_progress'],
    needs_attention: ['in_progress'],
    done: ['in_progress'],
  },
  delete: everywhere(['deleted']),
};

export function isAllowed(action: TaskAction, status: TaskStatus): boolean {
  return taskTransitions[action][status] !== undefined;
}

export function isFinished(status: TaskStatus): boolean {
  return (finishedStatuses as readonly TaskStatus[]).includes(status);
}

/** What a person most likely wants to do with a task in each status; first the likeliest. */
const usefulCommands: Readonly<Record<TaskStatus, readonly [string, ...string[]]>> = {
  pending: ['why', 'edit', 'cancel'],
  ready: ['work', 'edit', 'cancel'],
  in_progress: ['pause', 'logs', 'cancel'],
  paused: ['resume', 'cancel'],
  stuck: ['restart', 'cancel'],
  in_review: ['review', 'merge', 'resume', 'cancel'],
  landing: ['why', 'cancel'],
  needs_attention: ['resume', 'merge', 'cancel'],
  done: ['resume', 'undo', 'delete'],
  failed: ['restart', 'cancel'],
  cancelled: ['delete'],
};

export function suggestCommands(task: Pick<Task, 'id' | 'state'>): readonly [string, ...string[]] {
  const [first, ...others] = usefulCommands[task.state.status];
  const command = (verb: string) => `copse ${verb} ${task.id}`;
  return [command(first), ...others.map(command)];
}

export function refuseUnlessAllowed(task: Task, action: TaskAction): Refused | undefined {
  return isAllowed(action, task.state.status) ? undefined : wrongStatus(task, action.replaceAll('_', ' '));
}

export function wrongStatus(task: Task, action: string): Refused {
  return refused(
    'wrong_status',
    `${task.id} is ${task.state.status}: ${action} is not possible there.`,
    ...suggestCommands(task),
  );
}
