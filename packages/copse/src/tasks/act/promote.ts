/** Makes the dependants of a done task ready, if they wait for nothing else, in the transaction that makes it done. */

import type { NodeId, TaskId } from '../../kernel/ids.ts';
import { decidePromote } from '../rules/decisions.ts';
import type { Change } from '../../board/context.ts';

export async function promoteDependants(
  change: Change,
  done: TaskId,
  node: NodeId,
): Promise<readonly TaskId[]> {
  const promoted: TaskId[] = [];
  for (const id of await change.board.dependants(done)) {
    const task = await change.board.get('task', id);
    if (task?.state.status !== 'pending') continue;
    const statuses = await change.board.statuses(task.dependsOn);
    const decision = decidePromote(task, (one) => statuses.get(one), change.at);
    // A refusal means that it still waits for another task.
    if (decision.kind === 'refused') continue;
    await change.applyAs({ kind: 'node', node }, decision);
    promoted.push(id);
  }
  return promoted;
}
