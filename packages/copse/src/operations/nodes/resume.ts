import { type KnownNode, resumeNode } from '../../machines/act/nodes.ts';
import type { Access } from '../access.ts';
import { orFail } from '../failure.ts';
import { requireNode } from '../find-node.ts';
import { nodeView } from '../views/node-views.ts';

interface Input {
  readonly node: string;
}

export async function act(access: Access, input: Input): Promise<KnownNode> {
  return access.board(async (context) => {
    const known = await requireNode(context, input.node);
    return { ...known, node: orFail(await resumeNode(context, known.node.id)) };
  });
}

export function view(known: KnownNode) {
  return nodeView(known);
}
