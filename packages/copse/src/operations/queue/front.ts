import type { TaskId } from '../../kernel/ids.ts';
import { effectOf, hurryTasks } from '../../queue/act/control.ts';
import { type Access, contextOfAll } from '../access.ts';
import { orFail } from '../failure.ts';
import { requireTaskIds } from '../find.ts';

interface Input {
  readonly tasks: readonly string[];
  readonly dryRun?: boolean | undefined;
}

interface Hurried {
  readonly tasks: readonly TaskId[];
  /** How many running checks restart. */
  readonly restarts: number;
  readonly isDryRun: boolean;
  readonly hasChecks: boolean;
}

export async function act(access: Access, { tasks: words, dryRun = false }: Input): Promise<Hurried> {
  return access.run(async (run) => {
    const tasks = await requireTaskIds(run.board, words);
    const context = await contextOfAll(run, tasks);
    const restarts = await effectOf(context, context.landing, 'hurried', tasks);
    if (!dryRun) orFail(await hurryTasks(context, tasks));
    const hasChecks = Object.keys(context.landing.checks).length > 0;
    return { tasks, restarts, isDryRun: dryRun, hasChecks };
  });
}

export function view({ tasks, restarts, isDryRun }: Hurried) {
  return { tasks, restarts, isDryRun };
}
