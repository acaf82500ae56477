import type { Timestamp } from '../../kernel/ids.ts';
import { type KnownNode, loadNodes } from '../../machines/act/nodes.ts';
import type { Access } from '../access.ts';
import { nodeView } from '../views/node-views.ts';

interface Input {
  /** With the nodes that left. */
  readonly all?: boolean | undefined;
}

interface ListedNodes {
  readonly nodes: readonly KnownNode[];
  readonly at: Timestamp;
}

export async function act(access: Access, { all = false }: Input): Promise<ListedNodes> {
  return access.board(async (context) => ({
    nodes: await loadNodes(context, { withLeft: all }),
    at: context.clock.now(),
  }));
}

export function view({ nodes }: ListedNodes) {
  return { nodes: nodes.map(nodeView) };
}
