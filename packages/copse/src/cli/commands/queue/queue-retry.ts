import { tryAgain } from '../../../queue/act/control.ts';
import type { Landing } from '../../../queue/rules/landing.ts';
import { shown } from '../../../kernel/text.ts';
import { orFail } from '../../failure.ts';
import type { Invocation } from '../../invocation.ts';
import { requireTaskIds } from '../../with-board.ts';
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
    output.line(output.style('dim', '    A running orchestrator lands it; without one: copse merge'));
    output.line(output.style('dim', '  → copse queue --watch'));
  });
}
