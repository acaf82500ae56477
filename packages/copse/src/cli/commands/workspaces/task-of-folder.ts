/** The task that a command is about when it names none: that of the worktree around the folder, or of the agent that asks. */

import { sessionFrom, taskFrom } from '../../../board/rules/author.ts';
import type { Board } from '../../../board/port.ts';
import { nodeHere, requireRepository, worktreeNameOf } from '../../../compose/open.ts';
import { type TaskId, parseTaskId } from '../../../kernel/ids.ts';
import { shown } from '../../../kernel/text.ts';
import { fail } from '../../../operations/failure.ts';
import type { Cli } from '../../invocation.ts';
import { requireTaskId } from '../../with-board.ts';

/** An agent means its own task, in whatever folder it is. */
export async function requireTaskOrHere(board: Board, cli: Cli, word: string | undefined): Promise<TaskId> {
  if (word !== undefined) return requireTaskId(board, word);
  const own = taskFrom(cli.env);
  if (own !== undefined && sessionFrom(cli.env) !== undefined) return own;
  return (await taskOfFolder(board, cli)) ?? own ?? failNoTaskHere(cli);
}

/** Git knows a worktree by its task's id. A folder that only has such a name has no record on the board. */
export async function taskOfFolder(board: Board, cli: Cli): Promise<TaskId | undefined> {
  const repository = requireRepository(cli);
  const id = parseTaskId(worktreeNameOf(repository) ?? '');
  if (id === undefined) return undefined;
  const { workspaceOf } = await import('../../../workspaces/act/context.ts');
  return (await workspaceOf({ board, node: nodeHere(repository) }, id)) === undefined ? undefined : id;
}

export function failNoTaskHere(cli: Cli): never {
  const { top } = requireRepository(cli);
  return fail('invalid', `No task given, and ${shown(top)} is not a task's worktree.`, 'copse list');
}
