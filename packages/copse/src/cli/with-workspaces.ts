/** Opens the board and what worktrees need, and closes it when the command ends. */

import type { WorkspaceContext } from '../workspaces/act/context.ts';
import { openWorkspaceContext } from '../compose/open.ts';
import { type TaskId, resolvePrefix } from '../kernel/ids.ts';
import type { RefusalCode } from '../kernel/decision.ts';
import { CommandFailed } from './failure.ts';
import type { Cli } from './invocation.ts';
import { requireTaskId } from './with-board.ts';

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
    const isUnknown = error instanceof CommandFailed && error.failure.code === 'not_found';
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
  throw new CommandFailed({ code, reason, next });
}
