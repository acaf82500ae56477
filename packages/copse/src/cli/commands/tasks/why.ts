import { withAccess } from '../../../compose/operations/access.ts';
import { shown } from '../../../kernel/text.ts';
import { act, view } from '../../../operations/overview/why.ts';
import { printSteps } from '../../after/next-steps.ts';
import type { Invocation } from '../../invocation.ts';
import { indented, taskLine } from '../../screen/render.ts';
import { printProse } from '../../screen/screen.ts';

export async function run({ cli, words, options }: Invocation<{ readonly json?: boolean }>): Promise<void> {
  await withAccess(cli, async (access) => {
    const why = await act(access, { task: words[0] });
    if (options.json) return cli.output.json(view(why));
    const { state, ...rest } = why.task;
    const head = taskLine({ ...rest, state: withoutReason(state) }, cli.output, why.at);
    printProse(cli.output, head, TEXT_AT);
    for (const line of why.because) printProse(cli.output, indented(shown(line), TEXT_AT));
    printSteps(cli.output, why.next);
  });
}

const TEXT_AT = 4;

/** `because` has it in full. */
function withoutReason<T extends object>(state: T): T {
  if ('pullRequest' in state) return { ...state, pullRequest: null };
  return 'reason' in state ? { ...state, reason: '' } : state;
}
