import type { TaskSummary } from '../../tasks/rules/task.ts';
import type { Access } from '../access.ts';
import { orFail } from '../failure.ts';
import { taskView } from '../views/views.ts';

interface Input {
  /** `github#12`. Its source has the title and the text. */
  readonly item: string;
}

export async function act(access: Access, { item }: Input): Promise<TaskSummary> {
  return access.run(async (context) => {
    const { addItem } = await import('../../intake/act/one-item.ts');
    return orFail(await addItem(context, item));
  });
}

export function view(task: TaskSummary) {
  return taskView(task);
}
