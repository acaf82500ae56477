import type { Timestamp } from '../../kernel/ids.ts';
import type { KnownNode } from '../../machines/act/nodes.ts';
import type { Access } from '../access.ts';
import { requireNode } from '../find-node.ts';
import { nodeView } from '../views/node-views.ts';

interface Input {
  readonly node: string;
}

export async function act(access: Access, { node }: Input): Promise<KnownNode & { readonly at: Timestamp }> {
  return access.board(async (context) => ({
    ...(await requireNode(context, node)),
    at: context.clock.now(),
  }));
}

export function view(known: KnownNode) {
  return nodeView(known);
}
