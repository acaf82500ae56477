import { tryAgain } from '../../../queue/act/control.ts';
import type { Landing } from '../../../queue/rules/landing.ts';
import { shown } from '../../../kernel/text.ts';
import { isOrchestrated } from '../../after/ahead.ts';
import { printSteps } from '../../after/next-steps.ts';
import { orFail } from '../../../operations/failure.ts';
import type { Invocation } from '../../invocation.ts';
import { requireTaskIds } from '../../../operations/find.ts';
import { withRun } from '../../with-run.ts';

export async function run({ cli, words, options }: Invocation<{ readonly json?: boolean }>): Promise<void> {
  await withRun(cli, {}, async (context) => {
    const landings: Landing[] = [];
    for (const id of await requireTaskIds(context.board, words))
      landings.push(orFail(await tryAgain(context, id)));
    const { output } = cli;
    if (options.json) {
      output.json({ landings: landings.map(({ id, task, target, head }) => ({ id, task, target, head })) });
      return;
    }
    for (const { task, target } of landings)
      output.line(`${output.style('cyan', 'Queued')} ${task} to land on ${shown(target)}`);
    if (await isOrchestrated(cli)) {
      output.line(output.style('dim', '    A running orchestrator lands it.'));
      return printSteps(output, ['copse queue --watch']);
    }
    output.line(output.style('dim', '    No orchestrator is running.'));
    printSteps(output, [`copse merge ${landings.map(({ task }) => task).join(' ')}`]);
  });
}
