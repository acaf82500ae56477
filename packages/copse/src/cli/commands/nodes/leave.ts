import { withAccess } from '../../../compose/operations/access.ts';
import { shown } from '../../../kernel/text.ts';
import { act, view } from '../../../operations/nodes/leave.ts';
import type { Invocation } from '../../invocation.ts';

export async function run({ cli, words, options }: Invocation<{ readonly json?: boolean }>): Promise<void> {
  await withAccess(cli, async (access) => {
    const known = await act(access, { node: words[0] ?? '' });
    if (options.json) return cli.output.json(view(known));
    cli.output.line(`Node ${shown(known.node.name)} left the board. Its record stays: copse node list --all`);
  });
}
