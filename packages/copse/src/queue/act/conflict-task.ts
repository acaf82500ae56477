/**
 * `on_conflict: task`: a new task, the resolver, resolves the conflict of another one, the original.
 *
 *   the original conflicts  → its head gets a ref; then one transaction: the original needs attention, the resolver exists
 *   the resolver works      → from the target; it merges the ref. The finish gate requires that its branch contains it
 *   the resolver lands      → in the same transaction the original is done, if it still needs attention
 *
 * The resolver's work item is the landing that conflicted, so each such landing has at most one resolver.
 */

import { excerpt } from '../../agents/rules/briefing/briefing.ts';
import { type MissingWork, describeResolverTask } from '../../agents/rules/finish/conflict.ts';
import { type CommitId, type LandingId, type TaskId, taskIdDraws } from '../../kernel/ids.ts';
import { CONFLICT_SOURCE, landingToResolve } from '../rules/hand-back.ts';
import type { Landing } from '../rules/landing.ts';
import type { Policy } from '../../kernel/policy.ts';
import {
  type Task,
  type TaskDefinition,
  type WorkItem,
  isFinished,
  statusesForPeople,
} from '../../tasks/rules/task.ts';
import { decideCreate } from '../../tasks/rules/decisions.ts';
import { type HandbackCause, decideGiveUp, decideLand } from '../../tasks/rules/outcomes.ts';
import { decideWorkspace } from '../../workspaces/rules/workspace.ts';
import type { BoardReader } from '../../board/port.ts';
import { type Change, type Outcome, change } from '../../board/context.ts';
import { type Lead, requireLead } from '../lead/leadership.ts';
import { keepWorkspace } from '../../workspaces/act/keep-workspace.ts';
import { recordLandedCommit } from '../../tasks/act/artifacts.ts';
import { promoteDependants } from '../../tasks/act/promote.ts';
import type { RunContext } from '../context.ts';
import { unusedId } from '../../tasks/act/unused-id.ts';
import { workspaceOf } from '../../workspaces/act/context.ts';

/** Keeps the conflicting work for its resolver, whatever happens to its branch. */
function conflictRef(landing: LandingId): string {
  return `refs/copse/conflict/${landing}`;
}

/** Creates the resolver, or finds the one that exists. */
export async function resolveByTask(
  context: RunContext,
  lead: Lead,
  landing: Landing,
  cause: HandbackCause,
): Promise<Outcome<TaskId>> {
  await keepHead(context, landing);
  return change(context, async (change) => {
    await requireLead(change, lead);
    const original = await change.require('task', landing.task);
    const current = await change.require('landing', landing.id);
    const resolver = await findOrCreate(context, change, original, current, cause);
    const { because, reason, files, with: others } = cause;
    const given = { because, reason, resolver, ...(files && { files }), ...(others && { with: others }) };
    await change.apply(decideGiveUp(original, { landing: current }, given, change.at));
    await keepWorkspace(change, { task: original.id, node: context.node }, { because, reason });
    return resolver;
  });
}

async function keepHead({ git }: RunContext, { id, head }: Landing): Promise<void> {
  const ref = conflictRef(id);
  const before = (await git.tip(ref)) ?? null;
  if (before === head) return;
  const moved = await git.moveRef(ref, before, head, 'copse: a conflict');
  if (moved.kind !== 'moved') throw new Error(`Cannot keep the conflicting work under ${ref}`);
}

async function findOrCreate(
  context: RunContext,
  change: Change,
  original: Task,
  landing: Landing,
  cause: HandbackCause,
): Promise<TaskId> {
  const workItem: WorkItem = { source: CONFLICT_SOURCE, id: landing.id, url: null };
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

/** It inherits the areas, required capabilities, agent and accept commands of the original. */
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

/** Whether it needs no person, because another task resolves its conflict without one. */
export async function isBeingResolved(
  board: Pick<BoardReader, 'get'>,
  { state }: Pick<Task, 'state'>,
): Promise<boolean> {
  if (state.status !== 'needs_attention' || state.resolver === undefined) return false;
  const resolver = await board.get('task', state.resolver);
  const status = resolver?.state.status;
  return status !== undefined && !isFinished(status) && !statusesForPeople.includes(status);
}

/** Which task resolves the conflict of this one, and its status. */
export async function describeResolver(
  { board }: { readonly board: BoardReader },
  { id }: Pick<Task, 'id'>,
): Promise<readonly string[]> {
  const conflicted = (await board.list('landing', { task: id })).findLast(
    ({ state }) => state.status === 'conflicted',
  );
  if (conflicted === undefined) return [];
  const workItem = { source: CONFLICT_SOURCE, id: conflicted.id };
  const [resolver] = await board.tasks({ workItem, order: 'urgent', limit: 1 });
  if (resolver === undefined) return [];
  const { status } = resolver.state;
  if (status === 'done') return [`${resolver.id} resolved its conflict.`];
  return [`${resolver.id} resolves its conflict and is ${status}.`];
}

/** The work that a resolver's branch must contain and does not. */
export async function findMissing(
  { board, git }: RunContext,
  task: Task,
  head: CommitId,
): Promise<MissingWork | null> {
  const id = landingToResolve(task);
  const landing = id && (await board.get('landing', id));
  if (landing === undefined) return null;
  // The resolver may run on another machine than the original did.
  const isHere = (await git.tip(landing.head)) !== undefined;
  if (isHere && (await git.isAncestor(landing.head, head))) return null;
  return { task: landing.task, ref: conflictRef(landing.id), isHere };
}

/** In the transaction in which a resolver lands: the work that it resolved has landed too. Tasks that can start by that. */
export async function recordResolved(
  { git, node, random }: Pick<RunContext, 'git' | 'node' | 'random'>,
  change: Change,
  resolved: LandingId,
  { head, commit }: { readonly head: CommitId; readonly commit: CommitId },
): Promise<readonly TaskId[]> {
  const landing = await change.board.get('landing', resolved);
  if (landing === undefined || (await git.tip(landing.head)) === undefined) return [];
  if (!(await git.isAncestor(landing.head, head))) return [];
  const task = await change.board.get('task', landing.task);
  if (task === undefined) return [];
  const by = { kind: 'node', node } as const;
  const decision = decideLand(task, { kind: 'resolved', commit, head: landing.head }, change.at);
  // A person resumed or cancelled the original: that decision counts.
  if (decision.kind === 'refused') return [];
  await change.applyAs(by, decision);
  await recordLandedCommit(change, { random }, task.id, commit);
  const workspace = await workspaceOf({ board: change.board, node }, task.id);
  if (workspace?.disposition.is === 'kept' && workspace.disposition.why === 'conflict')
    await change.applyAs(by, decideWorkspace(workspace, { action: 'use' }, change.at));
  return promoteDependants(change, task.id, node);
}

/** The target contains the resolved work now, so its ref is no longer needed. */
export async function dropConflictRef({ git }: Pick<RunContext, 'git'>, resolved: LandingId): Promise<void> {
  const ref = conflictRef(resolved);
  const kept = await git.tip(ref);
  if (kept !== undefined) await git.moveRef(ref, kept, null, 'copse: resolved');
}
