/** Opens the board and what worktrees need, and closes it when the command ends. */

import type { WorkspaceContext } from '../workspaces/act/context.ts';
import { openWorkspaceContext, openWorkspacesAt } from '../compose/open.ts';
import { shellWord } from '../kernel/shell.ts';
import { type TaskId, resolvePrefix } from '../kernel/ids.ts';
import type { RefusalCode } from '../kernel/decision.ts';
import { OperationFailed } from '../operations/failure.ts';
import type { Cli } from './invocation.ts';
import { requireTaskId } from '../operations/find.ts';

export async function withWorkspaces<T>(
  cli: Cli,
  work: (context: WorkspaceContext) => Promise<T>,
): Promise<T> {
  const context = await openWorkspaceContext(cli);
  try {
    return await work(context);
  } finally {
    await Promise.all([context.git.close(), context.board.close()]);
  }
}

/** A worktree or a rescue may outlive its task, so `others` are searched too. */
export async function requireTaskIdAmong(
  { board }: WorkspaceContext,
  text: string,
  others: readonly TaskId[],
): Promise<TaskId> {
  try {
    return await requireTaskId(board, text);
  } catch (error) {
    const isUnknown = error instanceof OperationFailed && error.failure.code === 'not_found';
    const resolved = resolvePrefix(text, others);
    if (isUnknown && resolved.kind === 'found') return resolved.id;
    throw error;
  }
}

/** Fails with the reason and the commands of an outcome. */
export function stop(
  { reason, next }: { readonly reason: string; readonly next: readonly string[] },
  code: RefusalCode = 'wrong_status',
): never {
  throw new OperationFailed({ code, reason, next });
}

/** For commands that change only the repository they are run in. */
export async function refuseElsewhere({ board }: WorkspaceContext, id: TaskId | undefined): Promise<void> {
  const root = id && (await board.get('task', id))?.repository;
  if (root === undefined) return;
  stop({ reason: `The work of ${id} is in ${root}.`, next: [`cd ${shellWord(root)} # run git there`] });
}

/** The parts of the repository that the task is in. */
export async function withWorkspacesOf<T>(
  cli: Cli,
  context: WorkspaceContext,
  id: TaskId,
  work: (context: WorkspaceContext) => Promise<T>,
): Promise<T> {
  const root = (await context.board.get('task', id))?.repository;
  if (root === undefined || root === context.root) return work(context);
  const there = await openWorkspacesAt(cli, root);
  try {
    return await work(there);
  } finally {
    await Promise.all([there.git.close(), there.board.close()]);
  }
}
