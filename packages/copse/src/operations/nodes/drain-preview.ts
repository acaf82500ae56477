import type { Timestamp } from '../../kernel/ids.ts';
import { isByHand, loadNodes } from '../../machines/act/nodes.ts';
import type { Node } from '../../machines/rules/node.ts';
import { nodeTakesNow } from '../../machines/rules/offer.ts';
import type { TaskSummary } from '../../tasks/rules/task.ts';
import type { Access } from '../access.ts';
import { requireNode } from '../find-node.ts';

interface Input {
  readonly node: string;
}

interface DrainPreview {
  readonly node: Node;
  readonly tasks: readonly {
    readonly task: TaskSummary;
    /** A person works on it by hand. */
    readonly isStaying: boolean;
    /** The names of the nodes that can take it now. */
    readonly to: readonly string[];
  }[];
  readonly at: Timestamp;
}

export async function act(access: Access, input: Input): Promise<DrainPreview> {
  return access.board(async (context) => {
    const { node, held } = await requireNode(context, input.node);
    const others = (await loadNodes(context)).filter((one) => one.node.id !== node.id);
    const tasks = held.map((task) => ({
      task,
      isStaying: isByHand(task),
      to: others.flatMap((one) => {
        const able = nodeTakesNow(task, one.node, one.silentMs, context.policy.nodes);
        return able.kind === 'can' ? [one.node.name] : [];
      }),
    }));
    return { node, tasks, at: context.clock.now() };
  });
}

export function view({ tasks }: DrainPreview) {
  return {
    tasks: tasks.map(({ task: { id, title }, isStaying, to }) => ({ id, title, moves: !isStaying, to })),
  };
}
