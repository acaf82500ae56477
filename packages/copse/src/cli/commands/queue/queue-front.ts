import { withAccess } from '../../../compose/operations/access.ts';
import { act, view } from '../../../operations/queue/front.ts';
import type { Invocation } from '../../invocation.ts';
import { effectText } from './effect-text.ts';

interface Options {
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withAccess(cli, async (access) => {
    const hurried = await act(access, { tasks: words, dryRun: options.dryRun });
    const { output } = cli;
    if (options.json) return output.json(view(hurried));
    const { tasks, restarts, isDryRun, hasChecks } = hurried;
    const [goes, is] = isDryRun ? ['would go to the front', 'be'] : ['goes to the front', 'is'];
    const alone = hasChecks ? ` and ${is} checked alone` : '';
    for (const id of tasks) output.line(`${id} ${output.style('cyan', goes)}${alone}`);
    output.line(`    Nothing else lands before it.${hasChecks ? ` ${effectText(restarts)}` : ''}`);
  });
}
