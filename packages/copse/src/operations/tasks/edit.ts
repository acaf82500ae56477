import type { Board } from '../../board/port.ts';
import { type TaskId, resolvePrefix } from '../../kernel/ids.ts';
import { editTask } from '../../tasks/act/tasks.ts';
import type { Task } from '../../tasks/rules/task.ts';
import type { Access } from '../access.ts';
import { orFail } from '../failure.ts';
import { requireTaskId, requireTaskIds } from '../find.ts';
import { taskView } from '../views/views.ts';
import { type TaskInput, readTaskInput, requireAgent } from './definition.ts';

interface Input extends TaskInput {
  readonly task: string;
  readonly title?: string | undefined;
  readonly addDependencies?: readonly string[] | undefined;
  readonly removeDependencies?: readonly string[] | undefined;
}

export async function act(access: Access, input: Input): Promise<Task> {
  await requireAgent(access.here, input.agent);
  return access.board(async (context) => {
    const { board } = context;
    const id = await requireTaskId(board, input.task);
    return orFail(
      await editTask(context, id, {
        ...(await readTaskInput(board, input)),
        title: input.title,
        addDependencies: await requireTaskIds(board, input.addDependencies ?? []),
        removeDependencies: await requireDependencies(board, id, input.removeDependencies ?? []),
      }),
    );
  });
}

export function view(task: Task) {
  return taskView(task);
}

/** A dependency may have been deleted; its id is still in the task. */
async function requireDependencies(
  board: Board,
  id: TaskId,
  texts: readonly string[],
): Promise<readonly TaskId[]> {
  const dependsOn = (await board.get('task', id))?.dependsOn ?? [];
  const ids: TaskId[] = [];
  for (const text of texts) {
    const own = resolvePrefix(text, dependsOn);
    ids.push(own.kind === 'found' ? own.id : await requireTaskId(board, text));
  }
  return ids;
}
