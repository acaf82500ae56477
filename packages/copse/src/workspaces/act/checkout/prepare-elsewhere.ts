/**
 * Workspaces without a worktree: the main checkout (`static`, one session at a time), or no files at all (`none`, and tasks
 * without code).
 *
 * The checkout is released when its session ends (`leaveCheckout`). A process that was killed before that does not keep it:
 * it is free when its task is not in progress and the processes of its last attempt are gone. Every session looks at it
 * anew: what a person has there uncommitted is in a snapshot before the agent starts.
 */

import { decided } from '../../../kernel/decision.ts';
import { type TaskId, type WorkspaceId, brand, drawId } from '../../../kernel/ids.ts';
import type { Task } from '../../../tasks/rules/task.ts';
import { type CheckoutBefore, type CheckoutLeft, beforeSession, ownFiles } from '../../rules/checkout.ts';
import { type Workspace, decideWorkspace } from '../../rules/workspace.ts';
import { type Change, change } from '../../../board/context.ts';
import { type WorkspaceContext, isHeldByHand, workspaceOf } from '../context.ts';
import { leftInCheckout } from './left-in-checkout.ts';

export function strategyFor({ settings }: WorkspaceContext, task: Task): Workspace['strategy'] {
  return task.kind === 'non-code' ? 'none' : settings.strategy;
}

export type PreparedElsewhere =
  | { readonly workspace: Workspace; readonly reused: boolean }
  | { readonly usedBy: TaskId }
  /** Its session is over, and its processes are not gone yet. */
  | { readonly endingOf: TaskId }
  | { readonly impossible: string };

export async function prepareElsewhere(
  context: WorkspaceContext,
  record: Task,
  strategy: 'static' | 'none',
): Promise<PreparedElsewhere> {
  const { id: task } = record;
  const known = await workspaceOf(context, task);
  if (known?.disposition.is === 'in_use' && goesOn(context, record, known, strategy))
    return { workspace: known, reused: true };
  const usedBy = strategy === 'static' ? await userOfCheckout(context, context.board, task) : undefined;
  if (usedBy !== undefined) return { usedBy };
  const ending = strategy === 'static' ? await leftInCheckout(context) : [];
  const endingOf = ending.find((id) => id !== task);
  if (endingOf !== undefined) return { endingOf };
  const checkout = strategy === 'static' ? await lookBefore(context, task) : undefined;
  if (checkout === null) return { impossible: 'The main checkout has no commit, or there is none.' };
  const outcome = await change(context, async (change): Promise<PreparedElsewhere> => {
    const other = strategy === 'static' ? await userOfCheckout(context, change.board, task) : undefined;
    if (other !== undefined) return { usedBy: other };
    if (strategy === 'static') await releaseOthers(context, change);
    const id: WorkspaceId = brand(drawId('ws-', context.random));
    const of = { id, at: change.at, task, node: context.node, strategy, worktree: null };
    await change.apply(decided({ type: 'workspace.prepared', ...of, ...(checkout && { checkout }) }));
    return { workspace: await change.require('workspace', id), reused: false };
  });
  if (outcome.kind === 'refused') throw new Error(outcome.refusal.reason);
  return outcome.value;
}

/** In the main checkout only the same work by hand goes on: after any other session a person may have changed files. */
function goesOn(
  context: WorkspaceContext,
  task: Task,
  known: Workspace,
  strategy: 'static' | 'none',
): boolean {
  return strategy === 'none' || (known.strategy === 'static' && isHeldByHand(context, task));
}

/** What a session leaves in the main checkout, looked at before its end is recorded; null for any other workspace. */
export async function lookAtLeft(context: WorkspaceContext, task: TaskId): Promise<CheckoutLeft | null> {
  const workspace = await workspaceOf(context, task);
  if (workspace?.checkout === undefined) return null;
  const state = await context.checkout.look();
  return { head: state.head ?? workspace.checkout.head, paths: ownFiles(workspace.checkout, state) };
}

/** Frees the main checkout for the next session, in the transaction that ends this one. */
export async function leaveCheckout(
  change: Change,
  of: { readonly task: TaskId; readonly node: Workspace['node']; readonly left: CheckoutLeft | null },
): Promise<void> {
  const workspace = await workspaceOf({ board: change.board, node: of.node }, of.task);
  if (workspace?.strategy !== 'static') return;
  const { left } = of;
  await change.apply(decideWorkspace(workspace, { action: 'release', rescue: null, left }, change.at));
}

/** After a person stopped the session and its processes ended. A session that began since then keeps the checkout. */
export async function leaveStopped(context: WorkspaceContext, of: Workspace): Promise<void> {
  if (of.strategy !== 'static') return;
  const { task, node } = of;
  const left = await lookAtLeft(context, task);
  const outcome = await change(context, async (change) => {
    const now = await workspaceOf({ board: change.board, node }, task);
    if (now?.id === of.id) await leaveCheckout(change, { task, node, left });
  });
  if (outcome.kind === 'refused') throw new Error(outcome.refusal.reason);
}

async function userOfCheckout(
  { node }: WorkspaceContext,
  board: Pick<Change['board'], 'list' | 'get'>,
  own: TaskId,
): Promise<TaskId | undefined> {
  for (const one of await board.list('workspace')) {
    if (!isHere(one, node) || one.task === own) continue;
    const task = await board.get('task', one.task);
    if (task?.state.status === 'in_progress') return one.task;
  }
  return undefined;
}

async function releaseOthers({ node }: WorkspaceContext, change: Change): Promise<void> {
  for (const one of await change.board.list('workspace'))
    if (isHere(one, node))
      await change.apply(decideWorkspace(one, { action: 'release', rescue: null }, change.at));
}

function isHere({ strategy, node, disposition }: Workspace, here: Workspace['node']): boolean {
  return strategy === 'static' && node === here && disposition.is !== 'released';
}

async function lookBefore(context: WorkspaceContext, task: TaskId): Promise<CheckoutBefore | null> {
  const { board, checkout, rescues, node, root, mainGitDir, clock } = context;
  const state = mainGitDir === null ? undefined : await checkout.look();
  if (state === undefined || state.head === null) return null;
  const mine = (await board.list('workspace', { task })).filter((one) => one.node === node);
  const last = mine.findLast((one) => one.checkout !== undefined);
  const left = last?.disposition.is === 'released' ? last.disposition.left : undefined;
  const earlier = last?.checkout && left ? { before: last.checkout, left } : null;
  const before = beforeSession({ ...state, head: state.head }, earlier);
  if (state.changes.length === 0) return { ...before, rescue: null };
  const saved = await rescues.snapshot({ task, worktree: root, why: 'retry', at: clock.now() });
  return { ...before, rescue: saved.kind === 'saved' ? saved.rescue.ref : null };
}
