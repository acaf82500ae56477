import { withAccess } from '../../../compose/operations/access.ts';
import { act, view } from '../../../operations/agents/terminal/take-over.ts';
import type { Invocation } from '../../invocation.ts';

/** Kept until it is given back: at a command line there is no page whose end could be noticed. */
export async function run({ cli, words, options }: Invocation<{ readonly json?: boolean }>): Promise<void> {
  await withAccess(cli, async (access) => {
    const taken = await act(access, { task: words[0] ?? '', isKept: true });
    if (options.json) return cli.output.json(view(taken));
    const { task, isNew } = taken;
    cli.output.line(isNew ? `Took over the terminal of ${task}.` : `You had taken over ${task} already.`);
    cli.output.line(`  To give it back: copse give-back ${task}`);
  });
}
