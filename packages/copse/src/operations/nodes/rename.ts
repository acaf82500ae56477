import { type KnownNode, renameNode } from '../../machines/act/nodes.ts';
import type { Access } from '../access.ts';
import { orFail } from '../failure.ts';
import { requireNode, requireNodeName } from '../find-node.ts';
import { nodeView } from '../views/node-views.ts';

interface Input {
  readonly node: string;
  readonly name: string;
}

interface RenamedNode extends KnownNode {
  readonly before: string;
}

export async function act(access: Access, input: Input): Promise<RenamedNode> {
  const name = requireNodeName(input.name);
  return access.board(async (context) => {
    const known = await requireNode(context, input.node);
    const node = orFail(await renameNode(context, known.node.id, name));
    return { ...known, node, before: known.node.name };
  });
}

export function view(renamed: RenamedNode) {
  return nodeView(renamed);
}
