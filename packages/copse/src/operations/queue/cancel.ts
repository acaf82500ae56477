import type { TaskId } from '../../kernel/ids.ts';
import { effectOf, unqueueTasks } from '../../queue/act/control.ts';
import type { Task } from '../../tasks/rules/task.ts';
import { type Access, contextOfAll } from '../access.ts';
import { orFail } from '../failure.ts';
import { requireTaskIds } from '../find.ts';
import { taskView } from '../views/views.ts';

interface Input {
  readonly tasks: readonly string[];
  readonly reason?: string | undefined;
  readonly dryRun?: boolean | undefined;
}

interface Unqueued {
  readonly ids: readonly TaskId[];
  /** None in a dry run. */
  readonly tasks: readonly Task[];
  /** How many running checks restart. */
  readonly restarts: number;
  readonly isDryRun: boolean;
}

export async function act(access: Access, { reason, dryRun = false, ...input }: Input): Promise<Unqueued> {
  return access.run(async (run) => {
    const ids = await requireTaskIds(run.board, input.tasks);
    const context = await contextOfAll(run, ids);
    const restarts = await effectOf(context, context.landing, 'withdrawn', ids);
    const tasks = dryRun ? [] : orFail(await unqueueTasks(context, ids, reason ?? null));
    return { ids, tasks, restarts, isDryRun: dryRun };
  });
}

export function view({ tasks, restarts, isDryRun }: Unqueued) {
  return { tasks: tasks.map((task) => taskView(task)), restarts, isDryRun };
}
