/** Adds, edits and deletes tasks. */

import { type Refused, refused } from '../../kernel/decision.ts';
import { type TaskId, taskIdDraws } from '../../kernel/ids.ts';
import type { Policy } from '../../kernel/policy.ts';
import {
  type AddedBy,
  type ImportSource,
  type Task,
  type TaskDefinition,
  type TaskKind,
  type TaskOrigin,
  type WorkItem,
  isAllowed,
} from '../rules/task.ts';
import {
  decideAddedBy,
  decideCreate,
  decideDelete,
  decideDependencies,
  decideEdit,
} from '../rules/decisions.ts';
import { type Change, type Context, type Outcome, change } from '../../board/context.ts';
import { type DefinitionInput, readDefinition } from './definition.ts';
import { endSession } from './end-session.ts';
import { requireHolding } from './own-task.ts';
import { unusedId } from './unused-id.ts';

export async function addTask(context: Context, input: DefinitionInput): Promise<Outcome<Task>> {
  const read = readDefinition({ ...input, title: input.title ?? '' }, context.policy);
  if (read.kind === 'refused') return read;
  const definition = { ...blankDefinition(context.policy), ...read.changes };
  const unfit = refuseImport(definition.kind, definition.from);
  if (unfit) return unfit;
  return change(context, async (change) => {
    const addedBy = await requireMayAdd(change, context, definition);
    return createTask(change, context, definition, { addedBy });
  });
}

/** An import has a source from the beginning, and only an import has one. */
function refuseImport(kind: TaskKind, from: ImportSource | undefined): Refused | undefined {
  if (kind === 'import' && from === undefined)
    return refused(
      'invalid',
      'An import needs the artifact or the task that it brings into the repository.',
      'copse artifact list --all',
      'copse add --help',
    );
  if (kind === 'import' || from === undefined) return undefined;
  return refused('invalid', `A task that imports an artifact cannot be ${kind}.`, 'copse add --help');
}

/** In a transaction of the caller, which may record more with it: the firing of a schedule, the item of a source. */
export async function createTask(
  change: Change,
  { random }: Pick<Context, 'random'>,
  definition: TaskDefinition,
  from: { readonly addedBy?: AddedBy | undefined; readonly origin?: TaskOrigin | undefined },
): Promise<Task> {
  if (definition.plan !== null) await change.require('plan', definition.plan);
  await refuseSecondTaskFor(change, definition.workItem);
  const statuses = await change.board.statuses(definition.dependsOn);
  const id = await unusedId(change.board, taskIdDraws(random));
  await change.apply(decideCreate(id, definition, (task) => statuses.get(task), change.at, from));
  return change.require('task', id);
}

/** Undefined for a person. */
async function requireMayAdd(
  change: Change,
  { by, policy }: Pick<Context, 'by' | 'policy'>,
  definition: TaskDefinition,
): Promise<AddedBy | undefined> {
  if (by.kind !== 'session') return undefined;
  const own = await requireHolding(change, by);
  const all = await change.board.tasks({ order: 'recent' });
  const added = all.filter(({ addedBy }) => addedBy?.task === own.id).length;
  const decision = decideAddedBy(own, definition, added, policy.task);
  return 'kind' in decision ? change.refuse(decision) : decision;
}

export interface TaskEditInput extends Omit<DefinitionInput, 'dependsOn' | 'workItem' | 'from'> {
  readonly addDependencies?: readonly TaskId[];
  readonly removeDependencies?: readonly TaskId[];
}

export async function editTask(context: Context, id: TaskId, input: TaskEditInput): Promise<Outcome<Task>> {
  const { addDependencies = [], removeDependencies = [], ...rest } = input;
  const read = readDefinition(rest, context.policy);
  if (read.kind === 'refused') return read;
  const changesDependencies = addDependencies.length + removeDependencies.length > 0;
  return change(context, async (change) => {
    if (changesDependencies) await change.board.lockDependencies();
    const task = await change.require('task', id);
    if (read.changes.plan) await change.require('plan', read.changes.plan);
    const unfit = refuseImport(read.changes.kind ?? task.kind, task.from);
    if (unfit && read.changes.kind !== undefined) change.refuse(unfit);
    if (!changesDependencies || Object.keys(read.changes).length > 0) {
      await change.apply(decideEdit(task, read.changes, change.at));
    }
    if (changesDependencies) {
      const kept = task.dependsOn.filter((dependency) => !removeDependencies.includes(dependency));
      await dependOn(change, id, [...new Set([...kept, ...addDependencies])]);
    }
    return change.require('task', id);
  });
}

export interface DeleteInput {
  /** Also removes the task from the dependencies of waiting tasks. */
  readonly unlink: boolean;
}

/** All or none. Returns the tasks as they were. */
export async function deleteTasks(
  context: Context,
  ids: readonly TaskId[],
  input: DeleteInput,
): Promise<Outcome<readonly Task[]>> {
  return change(context, async (change) => {
    await change.board.lockDependencies();
    const tasks: Task[] = [];
    for (const id of ids) tasks.push(await deleteOne(change, id, input));
    return tasks;
  });
}

/** Undefined when `deleteTasks` would delete them all. Changes nothing. */
export async function refuseDelete(
  context: Context,
  ids: readonly TaskId[],
  input: DeleteInput,
): Promise<Refused | undefined> {
  const nothing = refused('invalid', 'Nothing is deleted.', 'copse list');
  const outcome = await change(context, async (change) => {
    await change.board.lockDependencies();
    for (const id of ids) await deleteOne(change, id, input);
    return change.refuse(nothing);
  });
  return outcome.kind === 'refused' && outcome.refusal !== nothing.refusal ? outcome : undefined;
}

async function deleteOne(change: Change, id: TaskId, { unlink }: DeleteInput): Promise<Task> {
  const task = await change.require('task', id);
  const dependants = await change.board.dependants(id);
  const statuses = await change.board.statuses(dependants);
  const waiting = dependants.filter((dependant) =>
    isAllowed('change_dependencies', statuses.get(dependant) ?? 'done'),
  );
  const { state } = task;
  const landing = state.status === 'landing' ? await change.require('landing', state.landing) : undefined;
  // A done dependency blocks no task, so it can be unlinked.
  const unlinks = unlink || state.status === 'done';
  if (unlinks) for (const dependant of waiting) await stopWaitingFor(change, dependant, id);
  // Its runner then learns that it lost the task; leftovers of a killed runner are found by the ended attempt.
  if (state.status === 'in_progress') await endSession(change, task, { action: 'cancel' });
  await change.apply(decideDelete(task, { landing, dependants: unlinks ? [] : waiting }, change.at));
  return task;
}

async function refuseSecondTaskFor(change: Change, workItem: WorkItem | null): Promise<void> {
  if (workItem === null) return;
  const [task] = await change.board.tasks({ workItem, order: 'urgent', limit: 1 });
  if (task === undefined) return;
  const { source, id } = workItem;
  change.refuse(refused('already_a_task', `${source} ${id} is already ${task.id}.`, `copse show ${task.id}`));
}

export function blankDefinition(policy: Policy): TaskDefinition {
  return {
    title: '',
    body: '',
    priority: policy.task.priority,
    kind: policy.task.kind,
    dependsOn: [],
    areas: [],
    requires: [],
    plan: null,
    agent: null,
    accept: [],
    workItem: null,
  };
}

/** In a transaction of the caller. The reason when they are refused; null: done, or nothing to do. */
export async function setDependencies(
  change: Change,
  id: TaskId,
  dependsOn: readonly TaskId[],
): Promise<string | null> {
  const task = await change.require('task', id);
  if (dependsOn.toSorted().join() === task.dependsOn.toSorted().join()) return null;
  const decision = await dependencyDecision(change, task, dependsOn);
  if (decision.kind === 'refused') return decision.refusal.reason;
  await change.apply(decision);
  return null;
}

async function stopWaitingFor(change: Change, dependant: TaskId, id: TaskId): Promise<void> {
  const { dependsOn } = await change.require('task', dependant);
  await dependOn(
    change,
    dependant,
    dependsOn.filter((dependency) => dependency !== id),
  );
}

async function dependOn(change: Change, id: TaskId, dependsOn: readonly TaskId[]): Promise<void> {
  await change.apply(await dependencyDecision(change, await change.require('task', id), dependsOn));
}

async function dependencyDecision(change: Change, task: Task, dependsOn: readonly TaskId[]) {
  const statuses = await change.board.statuses(dependsOn);
  const edges = await change.board.dependencyGraph(dependsOn);
  const statusOf = (dependency: TaskId) => statuses.get(dependency);
  return decideDependencies(task, dependsOn, { statusOf, edges }, change.at);
}
