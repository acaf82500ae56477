import { shown } from '../../../kernel/text.ts';
import { leaveNode } from '../../../machines/act/nodes.ts';
import { nodeView } from '../../../operations/views/node-views.ts';
import { orFail } from '../../../operations/failure.ts';
import type { Invocation } from '../../invocation.ts';
import { withBoard } from '../../with-board.ts';
import { requireNode } from '../../../operations/find-node.ts';

export async function run({ cli, words, options }: Invocation<{ readonly json?: boolean }>): Promise<void> {
  await withBoard(cli, async (context) => {
    const known = await requireNode(context, words[0] ?? '');
    const node = orFail(await leaveNode(context, known.node.id));
    if (options.json) return cli.output.json(nodeView({ ...known, node }));
    cli.output.line(`Node ${shown(node.name)} left the board. Its record stays: copse node list --all`);
  });
}
