/**
 * `on_conflict: task`: a task of its own resolves the conflict of another.
 *
 *   the branch conflicts  → its head gets a ref, then one transaction: the original needs attention, a resolver is there
 *   the resolver works    → from the target; it merges the ref. The finish gate sees to it that its branch contains it
 *   the resolver lands    → in the same transaction the original is done, if it still waits
 *
 * The resolver names the landing that conflicted as its work item, which makes it one for each such landing however often
 * somebody asks. Its own conflicts go back to its agent: there is no resolver of a resolver.
 */

import { excerpt } from '../../agents/rules/briefing/briefing.ts';
import { type MissingWork, describeResolverTask } from '../../agents/rules/finish/conflict.ts';
import { type CommitId, type LandingId, type TaskId, brand, taskIdDraws } from '../../kernel/ids.ts';
import type { Landing } from '../rules/landing.ts';
import type { Policy } from '../../kernel/policy.ts';
import type { Task, TaskDefinition, WorkItem } from '../../tasks/rules/task.ts';
import { decideCreate } from '../../tasks/rules/decisions.ts';
import { type HandbackCause, decideGiveUp, decideLand } from '../../tasks/rules/outcomes.ts';
import { decideWorkspace } from '../../workspaces/rules/workspace.ts';
import type { BoardReader } from '../../board/port.ts';
import { type Change, type Outcome, change } from '../../board/context.ts';
import { keepWorkspace } from '../../workspaces/act/keep-workspace.ts';
import { promoteDependants } from '../../tasks/act/promote.ts';
import type { RunContext } from '../context.ts';
import { unusedId } from '../../tasks/act/unused-id.ts';
import { workspaceOf } from '../../workspaces/act/context.ts';

const SOURCE = 'conflict';

/** The landing whose conflict a task is there to resolve. */
function landingToResolve({ workItem }: Pick<Task, 'workItem'>): LandingId | undefined {
  return workItem?.source === SOURCE ? brand<LandingId>(workItem.id) : undefined;
}

/** Who has to see to a branch that does not merge. A cause that names no other side is no conflict of two. */
export function whoResolves(
  task: Pick<Task, 'workItem'>,
  { on_conflict: onConflict }: Pick<RunContext['landing'], 'on_conflict'>,
  cause: HandbackCause,
): 'agent' | 'task' | 'person' {
  if (cause.because !== 'conflict' || onConflict === 'handback') return 'agent';
  if (landingToResolve(task) !== undefined) return 'agent';
  return onConflict === 'task' && cause.with !== undefined ? 'task' : 'person';
}

/** Under which the conflicting work is found by whoever resolves it, whatever happens to its branch. */
function conflictRef(landing: LandingId): string {
  return `refs/copse/conflict/${landing}`;
}

/** The task that resolves it: a new one, or the one that is there already. */
export async function resolveByTask(
  context: RunContext,
  landing: Landing,
  cause: HandbackCause,
): Promise<Outcome<TaskId>> {
  await keepHead(context, landing);
  return change(context, async (change) => {
    const original = await change.require('task', landing.task);
    const current = await change.require('landing', landing.id);
    const resolver = await findOrCreate(context, change, original, current, cause);
    const reason = `${resolver} resolves it.\n${cause.reason}`;
    await change.apply(decideGiveUp(original, { landing: current }, { ...cause, reason }, change.at));
    await keepWorkspace(change, { task: original.id, node: context.node }, { ...cause, reason });
    return resolver;
  });
}

async function keepHead({ git }: RunContext, { id, head }: Landing): Promise<void> {
  const ref = conflictRef(id);
  const before = (await git.tip(ref)) ?? null;
  if (before === head) return;
  const moved = await git.moveRef(ref, before, head, 'copse: a conflict');
  if (!moved.moved) throw new Error(`The conflicting work could not be kept under ${ref}`);
}

async function findOrCreate(
  context: RunContext,
  change: Change,
  original: Task,
  landing: Landing,
  cause: HandbackCause,
): Promise<TaskId> {
  const workItem: WorkItem = { source: SOURCE, id: landing.id, url: null };
  const [known] = await change.board.tasks({ workItem, order: 'urgent', limit: 1 });
  if (known !== undefined) return known.id;
  const id = await unusedId(change.board, taskIdDraws(context.random));
  const node = (await change.board.get('node', context.node))?.name ?? context.node;
  const definition = defineResolver(original, landing, cause, { workItem, node, policy: context.policy });
  const by = { kind: 'node', node: context.node } as const;
  await change.applyAs(
    by,
    decideCreate(id, definition, () => undefined, change.at),
  );
  return id;
}

/** What it may touch, who may take it and what it has to pass are as for the original. */
function defineResolver(
  original: Task,
  { id, head, target }: Landing,
  { reason }: HandbackCause,
  { workItem, node, policy: { text } }: { workItem: WorkItem; node: string; policy: Policy },
): TaskDefinition {
  const { priority, kind, areas, requires, plan, agent, accept } = original;
  const { text: title } = excerpt(`Resolve: ${original.title}`, text.titleLength);
  const ref = conflictRef(id);
  const body = describeResolverTask({ original, target, ref, head, node, reason });
  return {
    title,
    body: body.slice(0, text.bodyLength),
    priority,
    kind,
    areas,
    requires,
    plan,
    agent,
    accept,
    dependsOn: [],
    workItem,
  };
}

/** Who was asked to resolve the conflict that a task waits with, and how that goes. */
export async function describeResolver(
  { board }: { readonly board: BoardReader },
  { id }: Pick<Task, 'id'>,
): Promise<readonly string[]> {
  const conflicted = (await board.list('landing', { task: id })).findLast(
    ({ state }) => state.status === 'conflicted',
  );
  if (conflicted === undefined) return [];
  const workItem = { source: SOURCE, id: conflicted.id };
  const [resolver] = await board.tasks({ workItem, order: 'urgent', limit: 1 });
  if (resolver === undefined) return [];
  const { status } = resolver.state;
  if (status === 'done') return [`${resolver.id} resolved its conflict.`];
  return [`${resolver.id}, which is to resolve its conflict, is ${status}.`];
}

/** What the branch of a resolver lacks of the work that it is to resolve. */
export async function findMissing(
  { board, git }: RunContext,
  task: Task,
  head: CommitId,
): Promise<MissingWork | null> {
  const id = landingToResolve(task);
  const landing = id && (await board.get('landing', id));
  if (landing === undefined) return null;
  // A resolver may be on another machine than the work.
  const isHere = (await git.tip(landing.head)) !== undefined;
  if (isHere && (await git.isAncestor(landing.head, head))) return null;
  return { task: landing.task, ref: conflictRef(landing.id), isHere };
}

/** In the transaction in which a task is done: with a resolver, the work that it resolved has landed. Who may go on by it. */
export async function recordResolved(
  { git, node }: Pick<RunContext, 'git' | 'node'>,
  change: Change,
  resolver: Task,
  { head, commit }: { readonly head: CommitId; readonly commit: CommitId },
): Promise<readonly TaskId[]> {
  const id = landingToResolve(resolver);
  const landing = id && (await change.board.get('landing', id));
  if (landing === undefined || (await git.tip(landing.head)) === undefined) return [];
  if (!(await git.isAncestor(landing.head, head))) return [];
  const task = await change.board.get('task', landing.task);
  if (task === undefined) return [];
  const by = { kind: 'node', node } as const;
  const decision = decideLand(task, { how: 'resolved', commit, head: landing.head }, change.at);
  // Somebody goes on with it, or gave it up: what they decided counts.
  if (!decision.decided) return [];
  await change.applyAs(by, decision);
  const workspace = await workspaceOf({ board: change.board, node }, task.id);
  if (workspace?.disposition.is === 'kept' && workspace.disposition.why === 'conflict')
    await change.applyAs(by, decideWorkspace(workspace, { action: 'use' }, change.at));
  return promoteDependants(change, task.id, node);
}

/** Afterwards: the target keeps what was resolved, and how the branch resolved conflicts is remembered. */
export async function learnFromLanded(
  context: RunContext,
  { task: id, head, onto }: { readonly task: TaskId; readonly head: CommitId; readonly onto: CommitId },
): Promise<void> {
  const { board, git, resolving } = context;
  const task = await board.get('task', id);
  const resolved = task && landingToResolve(task);
  const ref = resolved && conflictRef(resolved);
  const kept = ref && (await git.tip(ref));
  if (ref && kept) await git.moveRef(ref, kept, null, 'copse: resolved');
  const base = (await workspaceOf(context, id))?.worktree?.baseCommit ?? null;
  await resolving.learn({ onto, head, base });
}
