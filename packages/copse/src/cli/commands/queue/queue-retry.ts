import { withAccess } from '../../../compose/operations/access.ts';
import { shown } from '../../../kernel/text.ts';
import { act, view } from '../../../operations/queue/retry.ts';
import { printSteps } from '../../after/next-steps.ts';
import type { Invocation } from '../../invocation.ts';

export async function run({ cli, words, options }: Invocation<{ readonly json?: boolean }>): Promise<void> {
  await withAccess(cli, async (access) => {
    const landings = await act(access, { tasks: words });
    const { output } = cli;
    if (options.json) return output.json(view(landings));
    for (const { task, target } of landings)
      output.line(`${output.style('cyan', 'Queued')} ${task} to land on ${shown(target)}`);
    if (await access.here.isOrchestrated()) {
      output.line(output.style('dim', '    A running orchestrator lands it.'));
      return printSteps(output, ['copse queue --watch']);
    }
    output.line(output.style('dim', '    No orchestrator is running.'));
    printSteps(output, [`copse merge ${landings.map(({ task }) => task).join(' ')}`]);
  });
}
