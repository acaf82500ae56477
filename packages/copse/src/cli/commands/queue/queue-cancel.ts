import { effectOf, unqueueTasks } from '../../../queue/act/control.ts';
import { shown } from '../../../kernel/text.ts';
import { taskView } from '../../../operations/views/views.ts';
import { orFail } from '../../../operations/failure.ts';
import type { Invocation } from '../../invocation.ts';
import { effectText } from './effect-text.ts';
import { requireTaskIds } from '../../../operations/find.ts';
import { contextOfAll } from '../../../operations/access.ts';
import { withRun } from '../../with-run.ts';

interface Options {
  readonly reason?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withRun(cli, {}, async (run) => {
    const ids = await requireTaskIds(run.board, words);
    const context = await contextOfAll(run, ids);
    const restarts = await effectOf(context, context.landing, 'withdrawn', ids);
    const isDryRun = options.dryRun ?? false;
    const tasks = isDryRun ? [] : orFail(await unqueueTasks(context, ids, options.reason ?? null));
    const { output } = cli;
    if (options.json) {
      output.json({ tasks: tasks.map((task) => taskView(task)), restarts, isDryRun });
      return;
    }
    for (const { id, title } of tasks)
      output.line(
        `${output.style('yellow', 'Took')} ${id} out of the queue, back to review: ${shown(title)}`,
      );
    if (isDryRun) for (const id of ids) output.line(`${id} would leave the queue`);
    output.line(
      `    ${ids.length === 1 ? 'Its branch stays' : 'Their branches stay'}. ${effectText(restarts)}`,
    );
    if (!isDryRun) output.line(output.style('dim', `  → copse merge ${ids.join(' ')}`));
  });
}
