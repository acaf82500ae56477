import { shown } from '../../../kernel/text.ts';
import { renameNode } from '../../../machines/act/nodes.ts';
import { nodeView } from '../../../operations/views/node-views.ts';
import { orFail } from '../../../operations/failure.ts';
import type { Invocation } from '../../invocation.ts';
import { withBoard } from '../../with-board.ts';
import { requireNode } from '../../../operations/find-node.ts';
import { requireNodeName } from './node-options.ts';

export async function run({ cli, words, options }: Invocation<{ readonly json?: boolean }>): Promise<void> {
  const name = requireNodeName(words[1] ?? '');
  await withBoard(cli, async (context) => {
    const known = await requireNode(context, words[0] ?? '');
    const node = orFail(await renameNode(context, known.node.id, name));
    if (options.json) return cli.output.json(nodeView({ ...known, node }));
    cli.output.line(`Node ${shown(known.node.name)} is called ${shown(node.name)} now.`);
  });
}
