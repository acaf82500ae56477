/** A person moves a task to a node: only that node takes it next. A running attempt is handed over first. */

import { type Decision, decided, refused } from '../../kernel/decision.ts';
import type { Timestamp } from '../../kernel/ids.ts';
import type { Node } from '../../machines/rules/node.ts';
import { nodeTakesNow } from '../../machines/rules/offer.ts';
import type { TaskEvent } from './events.ts';
import { type Task, refuseUnlessAllowed } from './task.ts';

export function decideMove(
  task: Task,
  to: Node,
  { silentMs }: { readonly silentMs: number | null },
  policy: { readonly silentMs: number },
  at: Timestamp,
): Decision<TaskEvent> {
  const refusal = refuseUnlessAllowed(task, 'move');
  if (refusal) return refusal;
  const { state } = task;
  if (state.status === 'in_progress' && state.claim.isByHand)
    return refused(
      'wrong_status',
      `Cannot move ${task.id}: a person works on it by hand.`,
      `copse pause ${task.id}`,
    );
  if (task.moveTo?.node === to.id || (state.status === 'in_progress' && state.claim.node === to.id))
    return refused(
      'wrong_status',
      task.moveTo?.node === to.id
        ? `${task.id} already waits for node ${to.name}.`
        : `${task.id} already runs on node ${to.name}.`,
      `copse why ${task.id}`,
    );
  const target = { node: to.id, name: to.name };
  const able = nodeTakesNow({ ...task, moveTo: target }, to, silentMs, policy);
  if (able.kind === 'cannot')
    return refused(
      'wrong_status',
      `Cannot move ${task.id} to ${to.name}: ${able.reason}.`,
      'copse node list',
    );
  return decided({ type: 'task.moved', id: task.id, at, to: target });
}

/** The node that it was to go to left: any node may take it. */
export function decideMoveAnywhere(task: Task, at: Timestamp): Decision<TaskEvent> | null {
  if (task.moveTo == null) return null;
  return decided({ type: 'task.moved', id: task.id, at, to: null });
}
