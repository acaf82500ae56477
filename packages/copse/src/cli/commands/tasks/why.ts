import { withAccess } from '../../../compose/operations/access.ts';
import { shown } from '../../../kernel/text.ts';
import { act, view } from '../../../operations/overview/why.ts';
import { printSteps } from '../../after/next-steps.ts';
import type { Invocation } from '../../invocation.ts';
import { taskLine } from '../../screen/render.ts';

export async function run({ cli, words, options }: Invocation<{ readonly json?: boolean }>): Promise<void> {
  await withAccess(cli, async (access) => {
    const why = await act(access, { task: words[0] });
    if (options.json) return cli.output.json(view(why));
    const { state, ...rest } = why.task;
    cli.output.line(taskLine({ ...rest, state: withoutReason(state) }, cli.output, why.at));
    for (const line of why.because) cli.output.line(`    ${shown(line).replaceAll('\n', '\n    ')}`);
    printSteps(cli.output, why.next);
  });
}

/** `because` has it in full. */
function withoutReason<T extends object>(state: T): T {
  if ('pullRequest' in state) return { ...state, pullRequest: null };
  return 'reason' in state ? { ...state, reason: '' } : state;
}
