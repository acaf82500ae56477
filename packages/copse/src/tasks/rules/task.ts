/**
 * A task: one piece of work with one owner at a time.
 *
 *   pending → ready → in_progress → in_review | landing → done
 *
 * and beside that path paused, stuck, needs_attention, failed, cancelled. `taskTransitions` says which action leads
 * where; decisions.ts and outcomes.ts ask it first.
 */

import type { RefusalCode, Refused } from '../../kernel/decision.ts';
import type {
  AgentName,
  ArtifactId,
  AttemptId,
  CommitId,
  FencingToken,
  JobId,
  LandingId,
  NodeId,
  PlanId,
  ScheduleId,
  SessionId,
  TaskId,
  Timestamp,
  WorkspaceId,
} from '../../kernel/ids.ts';
import type { Priority } from './priority.ts';
import type { PullRequest } from '../../review/rules/pull-request.ts';

interface StatusFacts {
  /** After a task's id: "cp-a1b2 is in progress". */
  readonly predicate: string;
  /** Nothing more happens to it unless a person asks. */
  readonly isFinished: boolean;
  /** A person has to act before it goes on. */
  readonly needsPerson: boolean;
  /** What a person most likely wants to do with it, the likeliest first. */
  readonly commands: readonly [string, ...string[]];
}

/** A status is added here; the compiler then names every place that has to know it. */
const statusFacts = {
  pending: facts('is pending', ['why', 'cancel']),
  ready: facts('is ready', ['work', 'cancel']),
  in_progress: facts('is in progress', ['pause', 'logs', 'cancel']),
  paused: facts('is paused', ['resume', 'cancel']),
  stuck: facts('is stuck', ['restart', 'cancel'], { needsPerson: true }),
  in_review: facts('is in review', ['review', 'merge', 'resume', 'cancel'], { needsPerson: true }),
  landing: facts('is in the queue', ['why', 'cancel']),
  needs_attention: facts('needs attention', ['resume', 'merge', 'cancel'], { needsPerson: true }),
  done: facts('is done', ['resume', 'undo', 'delete'], { isFinished: true }),
  failed: facts('has failed', ['restart', 'cancel'], { needsPerson: true }),
  cancelled: facts('is cancelled', ['delete'], { isFinished: true }),
} as const;

function facts(
  predicate: string,
  commands: StatusFacts['commands'],
  { isFinished = false, needsPerson = false } = {},
): StatusFacts {
  return { predicate, isFinished, needsPerson, commands };
}

export type TaskStatus = keyof typeof statusFacts;

export const taskStatuses = Object.keys(statusFacts) as readonly TaskStatus[];

export const statusesForPeople = taskStatuses.filter((status) => statusFacts[status].needsPerson);

/** From a record of all statuses, so that the compiler asks for each new one. */
export function statusesIn(record: Readonly<Record<TaskStatus, boolean>>): readonly TaskStatus[] {
  return taskStatuses.filter((status) => record[status]);
}

export function statusPredicate(status: TaskStatus): string {
  return statusFacts[status].predicate;
}

/** After a task's id, too; a pending task names what it waits for. */
export function whereText({ state, dependsOn }: Pick<Task, 'state' | 'dependsOn'>): string {
  if (state.status !== 'pending') return statusPredicate(state.status);
  const [only, ...others] = dependsOn;
  return only !== undefined && others.length === 0 ? `waits for ${only}` : 'waits for other tasks';
}

/** What a person most likely does with a task of this status, the likeliest first. */
export function statusCommands(status: TaskStatus): readonly string[] {
  return statusFacts[status].commands;
}

export function isFinished(status: TaskStatus): boolean {
  return statusFacts[status].isFinished;
}

export const taskKinds = ['code', 'non-code', 'import'] as const;
export type TaskKind = (typeof taskKinds)[number];

/** The outside item that a task was made from. One work item becomes one task. */
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
  /** Of an import: what it brings into the repository. */
  readonly from?: ImportSource;
}

/** One result of a task, or all that agents and people added to it (null). */
export interface ImportSource {
  readonly task: TaskId;
  readonly artifact: ArtifactId | null;
}

/** One session's hold on a task. How long it lasts is the lease's matter: see claim.ts. */
export interface Claim {
  readonly session: SessionId;
  readonly attempt: AttemptId;
  readonly node: NodeId;
  readonly agent: AgentName;
  /** A person works on it, so no process renews the lease. */
  readonly isByHand?: true;
  readonly token: FencingToken;
}

export const handbackReasons = [
  'dirty',
  'nothing_committed',
  'branch',
  'commit_message',
  'accept',
  'conflict',
  'checks',
  'unfit',
  'no_artifact',
  'not_imported',
] as const;
export type HandbackReason = (typeof handbackReasons)[number];

/**
 * Why finished work could not land and a person has to look. `unreadable`: its worktree or branch is beyond what Copse
 * reads.
 */
export type AttentionCause = HandbackReason | 'push' | 'landing' | 'unreadable';

/** Work that a person discarded. Other machines still have worktrees, branches and snapshots of it. */
export interface DiscardedWork {
  /** Of attempts with this token and below. */
  readonly upTo: FencingToken;
  /** All workspaces that it had. */
  readonly workspaces: readonly WorkspaceId[];
}

export type DoneHow = 'landed' | 'pull_request' | 'artifacts' | 'no_changes' | 'as_it_is';

/** Why a ready task is not claimed before some time. */
export interface Delay {
  readonly until: Timestamp;
  readonly because:
    | 'crash'
    | 'rate_limit'
    | 'taken'
    | 'handoff'
    | 'outdated'
    | 'cut_off'
    | 'drained'
    | 'moved'
    | 'head_lost';
}

export const delayCauses: Readonly<Record<Delay['because'], string>> = {
  crash: 'its last attempt crashed',
  rate_limit: 'its agent hit a rate limit',
  taken: 'its branch was in use elsewhere',
  handoff: 'its agent handed over to a fresh conversation',
  outdated: 'its runner stopped: its Copse was older than the board',
  cut_off: 'its runner stopped: it could not reach the board',
  drained: 'the node that ran it was draining',
  moved: 'it was moved to another node',
  head_lost: 'its finished commit was only on a machine that is gone',
};

/** Set when Copse stopped it, for a fault that a retry would meet again or for a limit: its agent asked nothing. */
export interface StuckBy {
  readonly isByCopse?: true;
  /** A person who worked on it by hand put it aside with a question. */
  readonly isByHand?: true;
  readonly lacks?: NoBase;
}

/** There is no commit that its branch could begin at. `no_branch`: copse.yml names a branch that does not exist. */
export type NoBase = { readonly kind: 'no_commit' } | { readonly kind: 'no_branch'; readonly branch: string };

export type TaskState =
  | { readonly status: 'pending'; readonly since: Timestamp }
  | { readonly status: 'ready'; readonly since: Timestamp; readonly delay: Delay | null }
  | { readonly status: 'in_progress'; readonly since: Timestamp; readonly claim: Claim }
  | { readonly status: 'paused'; readonly since: Timestamp }
  | ({ readonly status: 'stuck'; readonly since: Timestamp; readonly reason: string } & StuckBy)
  | {
      readonly status: 'in_review';
      readonly since: Timestamp;
      readonly head: CommitId;
      /** Null: a person reviews it with `copse review`. */
      readonly pullRequest: PullRequest | null;
    }
  | { readonly status: 'landing'; readonly since: Timestamp; readonly landing: LandingId }
  | {
      readonly status: 'needs_attention';
      readonly since: Timestamp;
      readonly because: AttentionCause;
      readonly reason: string;
      /** The task that resolves its conflict: until that ends, no person is needed. */
      readonly resolver?: TaskId;
    }
  | {
      readonly status: 'done';
      readonly since: Timestamp;
      readonly how: DoneHow;
      readonly commit: CommitId | null;
      /** The submitted commit, if other commits were merged that contain its work: a pull request, or a resolved conflict. */
      readonly head?: CommitId;
    }
  | { readonly status: 'failed'; readonly since: Timestamp; readonly reason: string }
  | { readonly status: 'cancelled'; readonly since: Timestamp; readonly reason: string | null };

/** For a task that an agent added: from which task, and how far from one that a person added. */
export interface AddedBy {
  readonly task: TaskId;
  readonly depth: number;
}

/** For a task that no person added: the schedule, the work item or the trigger that it comes from. */
export type TaskOrigin =
  | {
      readonly kind: 'schedule';
      readonly schedule: ScheduleId;
      readonly job: JobId;
      /** Of a run that took a work item, whose text is the task's. */
      readonly prompt?: string;
    }
  | {
      readonly kind: 'item';
      readonly source: string;
      readonly item: string;
      readonly url?: string;
      /** Who asked for it at the source, such as the person who set the label. */
      readonly by?: string;
    }
  | { readonly kind: 'trigger'; readonly trigger: string; readonly job: JobId };

/** The run of a schedule or a trigger that made it; null: none did. */
export function jobOf(origin: TaskOrigin | undefined): JobId | null {
  return origin === undefined || origin.kind === 'item' ? null : origin.job;
}

/** The node that a person moved a task to, with its name at that time. */
export interface MoveTarget {
  readonly node: NodeId;
  readonly name: string;
}

export interface Task extends TaskDefinition {
  readonly id: TaskId;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  readonly state: TaskState;
  /** The highest fencing token ever given out for this task; it only grows. */
  readonly token: FencingToken;
  /** Crashes since the last success or restart by a person. */
  readonly retries: number;
  /** Automatic restarts since a person restarted or resumed it: see auto-restart.ts. */
  readonly autoRestarts?: number;
  readonly handbacks: { readonly [R in HandbackReason]?: number };
  /** The latest session; `resume` continues its conversation. */
  readonly session: SessionId | null;
  readonly addedBy?: AddedBy;
  readonly origin?: TaskOrigin;
  /** A person moved it: only this node takes it. Null or absent once it is taken, or when the node left. */
  readonly moveTo?: MoveTarget | null;
  readonly discarded?: DiscardedWork;
  /** The main checkout of the repository that its work is in; absent: the board's own. Set by a claim, for good. */
  readonly repository?: string;
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
  'fail',
  'park',
  'lose_head',
  'handback',
  'merge',
  'unqueue',
  'follow',
  'land',
  'give_up',
  'pause',
  'cancel',
  'restart',
  'restart_automatically',
  'resume',
  'move',
  'reset',
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
  fail: { in_progress: ['failed'] },
  park: { in_progress: ['ready'] },
  lose_head: { landing: ['ready'] },
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
  // A stuck task has no agent to pause, and its question would be lost.
  pause: { in_progress: ['paused'] },
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
  restart_automatically: { stuck: ['ready'], needs_attention: ['ready'] },
  resume: {
    paused: ['in_progress'],
    in_review: ['in_progress'],
    needs_attention: ['in_progress'],
    done: ['in_progress'],
  },
  move: { pending: ['pending'], ready: ['ready'], in_progress: ['in_progress'] },
  reset: {
    ready: ['ready'],
    in_progress: ['in_progress'],
    paused: ['paused'],
    stuck: ['stuck'],
    in_review: ['in_review'],
    needs_attention: ['needs_attention'],
    done: ['done'],
  },
  delete: everywhere(['deleted']),
};

export function isAllowed(action: TaskAction, status: TaskStatus): boolean {
  return taskTransitions[action][status] !== undefined;
}

/** Refused because of its status. */
export function refusedFor(
  task: Pick<Task, 'id' | 'state'>,
  reason: string,
  code: RefusalCode = 'wrong_status',
): Refused {
  return { kind: 'refused', refusal: { code, reason, next: suggestCommands(task), task: task.id } };
}

/** By its status alone; `copse why` asks the board too. */
export function suggestCommands({ id, state }: Pick<Task, 'id' | 'state'>): readonly [string, ...string[]] {
  const [first, ...others] = statusFacts[state.status].commands;
  const command = (verb: string) => `copse ${verb} ${id}`;
  const hasLanded = state.status === 'done' && state.how === 'landed';
  return [command(first), ...others.filter((verb) => verb !== 'undo' || hasLanded).map(command)];
}

/** What "Cannot …" says for each action. */
const actionTexts: Readonly<Record<TaskAction, (id: TaskId) => string>> = {
  edit: (id) => `edit ${id}`,
  change_dependencies: (id) => `change the dependencies of ${id}`,
  promote: (id) => `make ${id} ready`,
  claim: (id) => `claim ${id}`,
  finish: (id) => `finish ${id}`,
  stuck: (id) => `report ${id} as stuck`,
  crash: (id) => `record a crash of ${id}`,
  fail: (id) => `fail ${id}`,
  park: (id) => `postpone ${id}`,
  lose_head: (id) => `work on ${id} again`,
  handback: (id) => `hand ${id} back to its agent`,
  merge: (id) => `merge ${id}`,
  unqueue: (id) => `take ${id} out of the queue`,
  follow: (id) => `follow the pull request of ${id}`,
  land: (id) => `land ${id}`,
  give_up: (id) => `give up ${id}`,
  pause: (id) => `pause ${id}`,
  cancel: (id) => `cancel ${id}`,
  restart: (id) => `restart ${id}`,
  restart_automatically: (id) => `restart ${id} automatically`,
  resume: (id) => `resume ${id}`,
  move: (id) => `move ${id}`,
  reset: (id) => `begin ${id} anew`,
  delete: (id) => `delete ${id}`,
};

/** `does`: what the person asked for, if that is not the name of the action. */
export function refuseUnlessAllowed(task: Task, action: TaskAction, does?: string): Refused | undefined {
  return isAllowed(action, task.state.status) ? undefined : wrongStatus(task, action, does);
}

export function wrongStatus(task: Task, action: TaskAction, does = actionTexts[action](task.id)): Refused {
  const { status } = task.state;
  if ((action === 'pause' && status === 'paused') || (action === 'cancel' && status === 'cancelled'))
    return refusedFor(task, `${task.id} is already ${status}.`);
  return refusedFor(task, `Cannot ${does}: it ${whereText(task)}.`);
}
