/**
 * What people ask of a task, decided from the task, the facts that matter and the time.
 *
 * Every function asks `taskTransitions` first, so the table in task.ts is the rule and this file only says what
 * an allowed action means. How work on a task ends is in outcomes.ts.
 */

import { type Claimant, grant } from './claim.ts';
import { type Decision, type Refused, decided, refused } from '../../kernel/decision.ts';
import { describeCycle, findCycle } from './dependencies.ts';
import type { FencingToken, TaskId, Timestamp, WorkspaceId } from '../../kernel/ids.ts';
import { type Landing, type LandingEvent, decideLanding, isCommitted } from '../../queue/rules/landing.ts';
import type { Policy } from '../../kernel/policy.ts';
import {
  type AddedBy,
  type TaskOrigin,
  type Task,
  type TaskDefinition,
  type TaskStatus,
  refuseUnlessAllowed,
  refusedFor,
} from './task.ts';
import type { TaskEdit, TaskEvent } from './events.ts';

/** Which status each dependency is in; a task that is gone has none. */
export type StatusOf = (id: TaskId) => TaskStatus | undefined;

export function decideCreate(
  id: TaskId,
  definition: TaskDefinition,
  statusOf: StatusOf,
  at: Timestamp,
  {
    addedBy,
    origin,
  }: { readonly addedBy?: AddedBy | undefined; readonly origin?: TaskOrigin | undefined } = {},
): Decision<TaskEvent> {
  const refusal = refuseBadDependencies(id, definition.dependsOn, [], { statusOf, edges: new Map() });
  if (refusal) return refusal;
  return decided({
    type: 'task.created',
    id,
    at,
    definition,
    status: waitingStatus(definition.dependsOn, statusOf),
    ...(addedBy && { addedBy }),
    ...(origin && { origin }),
  });
}

/** What the agent of a task may add: its text is for other agents, so none of it is run, and there is an end to it. */
export function decideAddedBy(
  from: Pick<Task, 'id' | 'addedBy'>,
  { accept }: Pick<TaskDefinition, 'accept'>,
  /** How many tasks were added from this one. */
  added: number,
  { mostAddedByAgents: most, deepestAddedByAgents: deepest }: Policy['task'],
): AddedBy | Refused {
  const depth = (from.addedBy?.depth ?? 0) + 1;
  const instead = `copse stuck ${from.id} --reason "…" # to ask a person to add it`;
  if (accept.length > 0)
    return refused(
      'not_this_session',
      'An agent may not add a task with accept commands: they are run as they are.',
      'Leave out --accept, and write into the body what has to be true.',
      instead,
    );
  if (depth > deepest)
    return refused(
      'not_this_session',
      `An agent added ${from.id}, so its own agent may not add further tasks: at most ${deepest} in a row.`,
      instead,
    );
  if (added >= most)
    return refused(
      'not_this_session',
      `Agents already added ${added} tasks from ${from.id}, which is the most that are allowed.`,
      instead,
    );
  return { task: from.id, depth };
}

export function decideEdit(task: Task, changes: TaskEdit, at: Timestamp): Decision<TaskEvent> {
  const refusal = refuseUnlessAllowed(task, 'edit');
  if (refusal) return refusal;
  const changed = Object.fromEntries(
    Object.entries(changes).filter(
      ([key, value]) => JSON.stringify(value) !== JSON.stringify(task[key as keyof TaskEdit]),
    ),
  );
  if (Object.keys(changed).length === 0) {
    return refused(
      'invalid',
      Object.keys(changes).length === 0
        ? `Nothing to change in ${task.id}: give an option.`
        : `${task.id} already has these values.`,
      `copse show ${task.id}`,
      'copse edit --help',
    );
  }
  return decided({ type: 'task.edited', id: task.id, at, changes: changed });
}

export interface DependencyFacts {
  readonly statusOf: StatusOf;
  /** What each task reachable from the new dependencies depends on. */
  readonly edges: ReadonlyMap<TaskId, readonly TaskId[]>;
}

export function decideDependencies(
  task: Task,
  dependsOn: readonly TaskId[],
  facts: DependencyFacts,
  at: Timestamp,
): Decision<TaskEvent> {
  return (
    refuseUnlessAllowed(task, 'change_dependencies') ??
    refuseBadDependencies(task.id, dependsOn, task.dependsOn, facts) ??
    decided({
      type: 'task.dependencies_changed',
      id: task.id,
      at,
      dependsOn,
      status: waitingStatus(dependsOn, facts.statusOf),
    })
  );
}

export function decidePromote(task: Task, statusOf: StatusOf, at: Timestamp): Decision<TaskEvent> {
  const refusal = refuseUnlessAllowed(task, 'promote');
  if (refusal) return refusal;
  const unmet = task.dependsOn.filter((id) => isUnmet(id, statusOf));
  if (unmet.length > 0) {
    return refused(
      'wrong_status',
      `${task.id} still waits for ${unmet.join(', ')}.`,
      `copse show ${unmet[0]}`,
      `copse edit ${task.id} --not-depends ${unmet[0]}`,
    );
  }
  return decided({ type: 'task.promoted', id: task.id, at });
}

export function decidePause(task: Task, at: Timestamp): Decision<TaskEvent> {
  if (task.state.status === 'stuck') {
    const { isByCopse, isByHand } = task.state;
    const why = isByCopse || isByHand ? 'no agent runs' : 'its agent has already stopped with a question';
    return refusedFor(task, `Cannot pause ${task.id}: ${why}.`);
  }
  return refuseUnlessAllowed(task, 'pause') ?? decided({ type: 'task.paused', id: task.id, at });
}

export function decideCancel(
  task: Task,
  landing: Landing | undefined,
  reason: string | null,
  at: Timestamp,
): Decision<TaskEvent | LandingEvent> {
  const refusal = refuseUnlessAllowed(task, 'cancel');
  if (refusal) return refusal;
  const event = { type: 'task.cancelled', id: task.id, at, reason } as const;
  return withdrawnFirst(task, landing, 'cancelled', event, at);
}

/** A stuck task gets a new conversation in the same worktree. A failed task becomes ready, with its retries reset. */
export function decideRestart(
  task: Task,
  claimant: Claimant | null,
  at: Timestamp,
  policy: Pick<Policy['lease'], 'durationMs'>,
): Decision<TaskEvent> {
  const refusal = refuseUnlessAllowed(task, 'restart');
  if (refusal) return refusal;
  const of = { type: 'task.restarted', id: task.id, at } as const;
  if (task.state.status === 'failed') return decided({ ...of, grant: null });
  if (claimant === null) throw new Error(`${task.id} is stuck: restarting it needs a claimant`);
  if (claimant.session === task.session) {
    return refused(
      'not_this_session',
      `${task.id} restarts in a new session, not in ${claimant.session} again.`,
      `copse restart ${task.id}`,
    );
  }
  return decided({ ...of, grant: grant(task, claimant, at, policy) });
}

export function decideResume(
  task: Task,
  claimant: Claimant,
  at: Timestamp,
  policy: Pick<Policy['lease'], 'durationMs'>,
): Decision<TaskEvent> {
  const refusal = refuseUnlessAllowed(task, 'resume');
  if (refusal) return refusal;
  if (task.session !== null && claimant.session !== task.session) {
    return refused(
      'not_this_session',
      `${task.id} resumes session ${task.session}, not ${claimant.session}.`,
      `copse resume ${task.id}`,
    );
  }
  return decided({ type: 'task.resumed', id: task.id, at, ...grant(task, claimant, at, policy) });
}

export interface DeleteFacts {
  readonly landing: Landing | undefined;
  /** Tasks that have not started and wait for this one. */
  readonly dependants: readonly TaskId[];
}

export function decideDelete(
  task: Task,
  { landing, dependants }: DeleteFacts,
  at: Timestamp,
): Decision<TaskEvent | LandingEvent> {
  const refusal = refuseUnlessAllowed(task, 'delete');
  if (refusal) return refusal;
  const [first] = dependants;
  if (first !== undefined) {
    const wait = dependants.length === 1 ? 'waits' : 'wait';
    return refused(
      'has_dependants',
      `Cannot delete ${task.id}: ${dependants.join(', ')} ${wait} for it.`,
      `copse edit ${first} --not-depends ${task.id} # to start ${first} without it`,
      `copse delete ${task.id} --unlink # to delete it all the same`,
    );
  }
  return withdrawnFirst(task, landing, 'deleted', { type: 'task.deleted', id: task.id, at }, at);
}

function refuseBadDependencies(
  id: TaskId,
  dependsOn: readonly TaskId[],
  already: readonly TaskId[],
  { statusOf, edges }: DependencyFacts,
): Refused | undefined {
  const cycle = findCycle(edges, id, dependsOn);
  if (cycle) {
    return refused(
      'cycle',
      `${id} would wait for itself: ${describeCycle(cycle)}.`,
      `copse edit ${cycle.at(-2)} --not-depends ${id}`,
    );
  }
  const gone = dependsOn.find((one) => statusOf(one) === undefined && !already.includes(one));
  if (gone === undefined) return undefined;
  return refused('invalid', `${id} cannot depend on ${gone}: there is no such task.`, 'copse list');
}

function waitingStatus(dependsOn: readonly TaskId[], statusOf: StatusOf): 'pending' | 'ready' {
  return dependsOn.some((id) => isUnmet(id, statusOf)) ? 'pending' : 'ready';
}

/** A deleted dependency counts as met: the deletion unlinked every task that still waited for it. */
function isUnmet(id: TaskId, statusOf: StatusOf): boolean {
  const status = statusOf(id);
  return status !== undefined && status !== 'done';
}

/** Leaves the queue before anything else happens; refused once the move of the target is journalled. */
function withdrawnFirst(
  task: Task,
  landing: Landing | undefined,
  reason: string,
  event: TaskEvent,
  at: Timestamp,
): Decision<TaskEvent | LandingEvent> {
  if (task.state.status !== 'landing') return decided(event);
  if (landing === undefined || landing.id !== task.state.landing) {
    throw new Error(`${task.id} is landing as ${task.state.landing}, which was not looked up`);
  }
  if (isCommitted(landing)) {
    return refused(
      'already_landing',
      `${task.id} is already landing: the move of ${landing.target} is journalled and will be completed.`,
      `copse why ${landing.task}`,
    );
  }
  const withdrawn = decideLanding(landing, { action: 'withdraw', reason }, at);
  return withdrawn.kind === 'decided'
    ? decided<TaskEvent | LandingEvent>(...withdrawn.events, event)
    : withdrawn;
}

/** A person discards all work on it so far, which other machines may have too. `token`: as the person saw the task. */
export function decideReset(
  task: Task,
  token: FencingToken,
  workspaces: readonly WorkspaceId[],
  at: Timestamp,
): Decision<TaskEvent> {
  const refusal = refuseUnlessAllowed(task, 'reset');
  if (refusal) return refusal;
  if (task.token !== token) return refusedFor(task, `${task.id} was taken while it was reset.`);
  return decided({ type: 'task.reset', id: task.id, at, upTo: token, workspaces });
}
