import { withAccess } from '../../../compose/operations/access.ts';
import { shown } from '../../../kernel/text.ts';
import { act, view } from '../../../operations/queue/cancel.ts';
import { printSteps } from '../../after/next-steps.ts';
import type { Invocation } from '../../invocation.ts';
import { effectText } from './effect-text.ts';

interface Options {
  readonly reason?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const { reason, dryRun } = options;
  await withAccess(cli, async (access) => {
    const unqueued = await act(access, { tasks: words, reason, dryRun });
    const { output } = cli;
    if (options.json) return output.json(view(unqueued));
    const { ids, tasks, restarts, isDryRun } = unqueued;
    for (const { id, title } of tasks)
      output.line(
        `${output.style('yellow', 'Took')} ${id} out of the queue, back to review: ${shown(title)}`,
      );
    if (isDryRun) for (const id of ids) output.line(`${id} would leave the queue`);
    output.line(
      `    ${ids.length === 1 ? 'Its branch stays' : 'Their branches stay'}. ${effectText(restarts)}`,
    );
    if (!isDryRun)
      printSteps(output, [
        `copse merge ${ids.join(' ')} # to land ${ids.length === 1 ? 'it' : 'them'} after all`,
      ]);
  });
}
