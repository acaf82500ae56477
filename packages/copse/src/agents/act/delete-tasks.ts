/**
 * Deletes tasks with all that belongs to them:
 *
 *   ask the board whether all may be deleted → end agents and remove worktrees → delete all on the board → end what is left
 *
 * Worktrees go first, because their teardown needs the task. They are rescued and stay in the trash: `copse undo` brings them
 * back. A kill in between leaves tasks without a worktree, which is harmless.
 */

import type { BranchName, TaskId } from '../../kernel/ids.ts';
import type { NamedProcess } from '../../kernel/process.ts';
import { settleCheckout } from '../../queue/act/settle-checkout.ts';
import type { RunContext } from '../../queue/context.ts';
import type { Outcome } from '../../board/context.ts';
import { refused } from '../../kernel/decision.ts';
import { type DeleteInput, deleteTasks, refuseDelete } from '../../tasks/act/tasks.ts';
import type { Task } from '../../tasks/rules/task.ts';
import { lastBranchHere, workspaceOf } from '../../workspaces/act/context.ts';
import { branchRef } from '../../workspaces/discard/rescue-first.ts';
import { dropShared } from '../../workspaces/discard/drop-shared.ts';
import { type Removed, removeWorkspace } from '../../workspaces/discard/remove.ts';
import { waitForEnd } from './stop-task.ts';

export interface DeletedTask {
  /** As it was. */
  readonly task: Task;
  readonly agent: 'none' | 'stopped' | 'elsewhere';
  /** Processes that could not be ended. */
  readonly remaining: readonly NamedProcess[];
  /** Null when it has no worktree here, or keeps it. */
  readonly removed: Extract<Removed, { kind: 'removed' }> | null;
  /** A branch that stays although its worktree was removed before; null when there is none. */
  readonly branch: { readonly name: BranchName; readonly unmerged: number } | null;
}

export async function deleteWithWorkspaces(
  context: RunContext,
  ids: readonly TaskId[],
  { keepWorktree, ...input }: DeleteInput & { readonly keepWorktree: boolean },
): Promise<Outcome<readonly DeletedTask[]>> {
  for (const id of ids) await settleCheckout(context, id);
  const refusal = await refuseDelete(context, ids, input);
  if (refusal !== undefined) return refusal;
  // Before the removal, which pauses tasks that are in progress.
  const before = new Map<TaskId, Task | undefined>();
  for (const id of ids) before.set(id, await context.board.get('task', id));
  const removals = new Map<TaskId, DeletedTask['removed']>();
  const branches = new Map<TaskId, DeletedTask['branch']>();
  for (const id of ids) branches.set(id, await branchLeft(context, id));
  for (const id of keepWorktree ? [] : ids) {
    const removed = await removeOf(context, id);
    if (removed !== null && removed.kind !== 'removed') return notDeleted(id, removed, removals);
    removals.set(id, removed);
  }
  // First: the board forgets with the task where its snapshots are.
  await dropShared(context, ids);
  const deleted = await deleteTasks(context, ids, input);
  if (deleted.kind === 'refused') return deleted;
  const results: DeletedTask[] = [];
  for (const task of deleted.value) {
    const known = before.get(task.id) ?? task;
    const removed = removals.get(task.id) ?? null;
    const branch = branches.get(task.id) ?? null;
    results.push({ task: known, ...(await endOf(context, known)), removed, branch });
  }
  return { kind: 'done', value: results };
}

/** Of a task without a worktree: the removal of a worktree says what happens to its branch. */
async function branchLeft(context: RunContext, id: TaskId): Promise<DeletedTask['branch']> {
  const own = await lastBranchHere(context, id);
  if (own === null || own.isWorktreeHere) return null;
  const { git } = context;
  try {
    const tip = await git.tip(branchRef(own.branch));
    const target = await git.tip(branchRef(own.target));
    if (tip === undefined) return null;
    const state = (await context.board.get('task', id))?.state;
    // What landed may be other commits than those of its branch.
    if (state?.status === 'done' && state.how !== 'as_it_is') return { name: own.branch, unmerged: 0 };
    return { name: own.branch, unmerged: target === undefined ? 0 : await git.countCommits(target, tip) };
  } catch {
    // It is damaged or changes at this moment, which keeps no task from being deleted.
    return null;
  }
}

async function removeOf(context: RunContext, id: TaskId): Promise<Removed | null> {
  if ((await workspaceOf(context, id)) === undefined) return null;
  const again = `copse delete ${id}`;
  const request = { by: 'person', isNamed: true, isForced: true, deleteBranch: false, again } as const;
  return removeWorkspace(context, id, request);
}

function notDeleted(
  id: TaskId,
  removed: Exclude<Removed, { kind: 'removed' }>,
  removals: ReadonlyMap<TaskId, DeletedTask['removed']>,
): Outcome<never> {
  const reason = removed.kind === 'question' ? removed.question : removed.reason;
  const gone = [...removals].flatMap(([task, one]) => (one === null ? [] : [task]));
  const also = gone.length === 0 ? '' : ` The worktree of ${gone.join(', ')} was removed before that.`;
  const next = removed.kind === 'question' ? [] : removed.next;
  return refused(
    'wrong_status',
    `Nothing was deleted. ${reason}${also}`,
    `copse delete ${id} --keep-worktree`,
    ...next,
    ...gone.map((task) => `copse undo ${task}`),
  );
}

async function endOf(
  context: RunContext,
  { id, state }: Task,
): Promise<Pick<DeletedTask, 'agent' | 'remaining'>> {
  if (state.status !== 'in_progress' || state.claim.isByHand) return { agent: 'none', remaining: [] };
  if (state.claim.node !== context.node) return { agent: 'elsewhere', remaining: [] };
  return { agent: 'stopped', remaining: await waitForEnd(context, id, state.claim.attempt) };
}
