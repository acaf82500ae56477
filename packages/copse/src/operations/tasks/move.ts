import { handOver } from '../../agents/act/recover.ts';
import { moveTask } from '../../machines/act/nodes.ts';
import type { Node } from '../../machines/rules/node.ts';
import { contextToStop } from '../../queue/context.ts';
import type { Task } from '../../tasks/rules/task.ts';
import { type Access, runOf } from '../access.ts';
import { fail, orFail } from '../failure.ts';
import { requireNode } from '../find-node.ts';
import { taskView } from '../views/views.ts';

interface Input {
  readonly task: string;
  /** The name or the id of a node. */
  readonly to: string;
}

interface MovedTask {
  readonly task: Task;
  readonly node: Node;
}

export async function act(access: Access, { task: text, to }: Input): Promise<MovedTask> {
  return runOf({ access, task: text, placeOf: contextToStop }, async (context, id) => {
    const { node } = await requireNode(context, to);
    const { state } = orFail(await moveTask(context, id, node.id));
    const claim = state.status === 'in_progress' ? state.claim : null;
    const isHere = claim?.node === context.node;
    // An orchestrator of this node does it at its next look.
    if (claim !== null && isHere && !(await access.here.isOrchestrated())) {
      const { attempt, token } = claim;
      const why = { because: 'moved', reason: `it was moved to node ${node.name}` } as const;
      orFail(await handOver(context, { task: id, attempt, token }, why));
    }
    const task =
      (await context.board.get('task', id)) ??
      fail('not_found', `The board has no task ${id}.`, 'copse list');
    return { task, node };
  });
}

export function view({ task }: MovedTask) {
  return taskView(task);
}
