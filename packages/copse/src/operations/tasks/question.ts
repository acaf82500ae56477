import { type OpenQuestion, openQuestionOf } from '../../agents/act/answer.ts';
import { questionView } from '../../explain/question.ts';
import type { TaskId, Timestamp } from '../../kernel/ids.ts';
import type { Task } from '../../tasks/rules/task.ts';
import type { Access } from '../access.ts';
import { requireTaskId } from '../find.ts';

interface Input {
  readonly task: string;
}

interface Asked {
  readonly id: TaskId;
  /** Undefined when it was just deleted. */
  readonly task: Task | undefined;
  readonly open: OpenQuestion | undefined;
  readonly at: Timestamp;
}

export async function act(access: Access, input: Input): Promise<Asked> {
  return access.board(async ({ board, clock }) => {
    const id = await requireTaskId(board, input.task);
    const task = await board.get('task', id);
    return { id, task, open: task && (await openQuestionOf(board, task)), at: clock.now() };
  });
}

export function view({ id, open }: Asked) {
  return { task: id, question: open ? questionView(open) : null };
}
