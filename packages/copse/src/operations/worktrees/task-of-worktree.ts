/** Which task an operation on worktrees and rescues is about; these may outlive their task. */

import { taskFrom } from '../../board/rules/author.ts';
import type { RefusalCode } from '../../kernel/decision.ts';
import { type TaskId, resolvePrefix } from '../../kernel/ids.ts';
import { shellWord } from '../../kernel/shell.ts';
import { shown } from '../../kernel/text.ts';
import type { WorkspaceContext } from '../../workspaces/act/context.ts';
import type { Access } from '../access.ts';
import { OperationFailed, fail } from '../failure.ts';
import { requireTaskId } from '../find.ts';
import { failNoTaskHere, taskOfFolder } from '../task-here.ts';

/** The named one, or that of the worktree around the caller. An agent gets only its own: others may be hidden from it. */
export async function requireTaskOfWorktree(
  context: WorkspaceContext,
  { env, here }: Pick<Access, 'env' | 'here'>,
  text: string | undefined,
): Promise<TaskId> {
  const own = context.by.kind === 'session' ? taskFrom(env) : undefined;
  const found =
    text === undefined
      ? await taskOfFolder(context.board, here)
      : await requireTaskIdAmong(context, text, await tasksWithWorktrees(context));
  const isNamed = text !== undefined || own !== undefined;
  if (context.by.kind === 'session' && isNamed && found !== undefined && found !== own)
    fail(
      'not_this_session',
      `${found} is not the task of session ${shown(context.by.session)}.`,
      'copse diff',
    );
  // The runner runs commands of its agent outside of the worktree.
  return found ?? own ?? failNoTaskHere(here.top());
}

/** `others` are searched too. */
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

/** Tasks with a worktree on this machine, deleted tasks included. */
export async function tasksWithWorktrees({ board, node }: WorkspaceContext): Promise<readonly TaskId[]> {
  const all = await board.list('workspace');
  return all.filter((one) => one.node === node && one.disposition.is !== 'released').map(({ task }) => task);
}

/** For operations that change only the repository of the caller. */
export async function refuseElsewhere({ board }: WorkspaceContext, id: TaskId | undefined): Promise<void> {
  const root = id && (await board.get('task', id))?.repository;
  if (root === undefined) return;
  stop({ reason: `The work of ${id} is in ${root}.`, next: [`cd ${shellWord(root)} # run git there`] });
}

/** Fails with the reason and the commands of an outcome. */
export function stop(
  { reason, next }: { readonly reason: string; readonly next: readonly string[] },
  code: RefusalCode = 'wrong_status',
): never {
  throw new OperationFailed({ code, reason, next });
}
