/** The task a command is about when it is not an argument: the option, or the one whose agent is asking. */

import type { TaskId } from '../../kernel/ids.ts';
import type { Board } from '../../board/port.ts';
import { fail } from '../failure.ts';
import type { Cli } from '../invocation.ts';
import { requireTaskId } from '../with-board.ts';

export async function requireTaskOption(
  board: Board,
  cli: Cli,
  options: { readonly task?: string },
): Promise<TaskId> {
  const text = options.task ?? cli.env['COPSE_TASK_ID'];
  if (text) return requireTaskId(board, text);
  return fail('invalid', 'Which task is meant?', 'name it: --task <id>');
}
