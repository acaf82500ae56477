import { withAccess } from '../../../compose/operations/access.ts';
import { act, view } from '../../../operations/agents/terminal/give-back.ts';
import type { Invocation } from '../../invocation.ts';

export async function run({ cli, words, options }: Invocation<{ readonly json?: boolean }>): Promise<void> {
  await withAccess(cli, async (access) => {
    const given = await act(access, { task: words[0] ?? '' });
    if (options.json) return cli.output.json(view(given));
    const { task, isNew } = given;
    cli.output.line(
      isNew ? `Gave the terminal of ${task} back to its agent.` : `No person had taken over ${task}.`,
    );
  });
}
