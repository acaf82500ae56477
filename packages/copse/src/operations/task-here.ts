/** The task that a caller means without naming one: that of the worktree around it, or of the agent that asks. */

import type { Board } from '../board/port.ts';
import { sessionFrom, taskFrom } from '../board/rules/author.ts';
import { type TaskId, parseTaskId } from '../kernel/ids.ts';
import { shown } from '../kernel/text.ts';
import type { Access } from './access.ts';
import { fail } from './failure.ts';
import { requireTaskId } from './find.ts';

/** An agent means its own task, in whatever folder it is. */
export async function requireTaskOrHere(
  board: Board,
  { env, here }: Pick<Access, 'env' | 'here'>,
  text: string | undefined,
): Promise<TaskId> {
  if (text !== undefined) return requireTaskId(board, text);
  const own = taskFrom(env);
  if (own !== undefined && sessionFrom(env) !== undefined) return own;
  return (await taskOfFolder(board, here)) ?? own ?? failNoTaskHere(here.top());
}

/** Git knows a worktree by its task's id. A folder that only has such a name has no record on the board. */
export async function taskOfFolder(board: Board, here: Access['here']): Promise<TaskId | undefined> {
  const id = parseTaskId(here.worktreeName() ?? '');
  if (id === undefined) return undefined;
  const { workspaceOf } = await import('../workspaces/act/context.ts');
  return (await workspaceOf({ board, node: here.node() }, id)) === undefined ? undefined : id;
}

export function failNoTaskHere(top: string): never {
  return fail('invalid', `No task given, and ${shown(top)} is not a task's worktree.`, 'copse list');
}
