/** Opens the board together with what worktrees need, for as long as a command needs it. */

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
    await context.board.close();
  }
}

/** A worktree or a rescue may outlive its task: these ids count too when the board does not know one. */
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
    if (isUnknown && 'found' in resolved) return resolved.found;
    throw error;
  }
}

/** For outcomes that say themselves what happened and what to do next. */
export function stop(
  { reason, next }: { readonly reason: string; readonly next: readonly string[] },
  code: RefusalCode = 'wrong_status',
): never {
  throw new CommandFailed({ code, reason, next });
}
