import { type KnownNode, drainNode, isByHand } from '../../machines/act/nodes.ts';
import { isHeard } from '../../machines/rules/node.ts';
import type { Access } from '../access.ts';
import { orFail } from '../failure.ts';
import { requireNode } from '../find-node.ts';
import { nodeView } from '../views/node-views.ts';

interface Input {
  readonly node: string;
  /** How long running work may go on; the default is that of the policy. */
  readonly withinMs?: number | undefined;
}

interface DrainedNode extends KnownNode {
  readonly withinMs: number;
  /** How many agents run there. */
  readonly agents: number;
  /** It was heard from lately, so that its orchestrator drains it now. */
  readonly isHeard: boolean;
}

export async function act(access: Access, input: Input): Promise<DrainedNode> {
  return access.board(async (context) => {
    const known = await requireNode(context, input.node);
    const withinMs = input.withinMs ?? context.policy.nodes.drainMs;
    const node = orFail(await drainNode(context, known.node.id, { withinMs, by: 'person' }));
    const agents = known.held.filter((task) => !isByHand(task)).length;
    return {
      ...known,
      node,
      withinMs,
      agents,
      isHeard: isHeard(known.silentMs, context.policy.nodes.silentMs),
    };
  });
}

export function view(drained: DrainedNode) {
  return nodeView(drained);
}
