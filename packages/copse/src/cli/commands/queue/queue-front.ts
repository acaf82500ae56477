import { effectOf, hurryTasks } from '../../../queue/act/control.ts';
import { orFail } from '../../../operations/failure.ts';
import type { Invocation } from '../../invocation.ts';
import { effectText } from './effect-text.ts';
import { requireTaskIds } from '../../../operations/find.ts';
import { contextOfAll } from '../../../operations/access.ts';
import { withRun } from '../../with-run.ts';

interface Options {
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withRun(cli, {}, async (run) => {
    const ids = await requireTaskIds(run.board, words);
    const context = await contextOfAll(run, ids);
    const restarts = await effectOf(context, context.landing, 'hurried', ids);
    const isDryRun = options.dryRun ?? false;
    if (!isDryRun) orFail(await hurryTasks(context, ids));
    const { output } = cli;
    if (options.json) {
      output.json({ tasks: ids, restarts, isDryRun });
      return;
    }
    const [goes, is] = isDryRun ? ['would go to the front', 'be'] : ['goes to the front', 'is'];
    for (const id of ids) output.line(`${id} ${output.style('cyan', goes)} and ${is} checked alone`);
    output.line(`    Nothing else lands before it. ${effectText(restarts)}`);
  });
}
