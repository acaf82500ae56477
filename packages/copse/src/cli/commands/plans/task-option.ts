/** The task of --task, or of the agent that runs the command. */

import type { TaskId } from '../../../kernel/ids.ts';
import type { Board } from '../../../board/port.ts';
import { fail } from '../../failure.ts';
import type { Cli } from '../../invocation.ts';
import { requireTaskId } from '../../with-board.ts';

export async function requireTaskOption(
  board: Board,
  cli: Cli,
  options: { readonly task?: string },
): Promise<TaskId> {
  const text = options.task ?? cli.env['COPSE_TASK_ID'];
  if (text) return requireTaskId(board, text);
  return fail('invalid', 'No task given.', 'add the id of a task: --task <id>');
}
