/** What dropping a card into a column does: an operation, or the reason why there is none and the command that would help. */

import { unreachable } from '../../../../copse/src/kernel/unreachable.ts';
import {
  type TaskSummary,
  statusPredicate,
  suggestCommands,
} from '../../../../copse/src/tasks/rules/task.ts';
import { formatPriority } from '../../../../copse/src/tasks/rules/priority.ts';
import type { InputOf, OperationName } from '../../api/operations.ts';
import { type Column, columnOf } from './columns.ts';

export type Drop =
  | { readonly kind: 'nothing' }
  | {
      readonly kind: 'operation';
      readonly name: OperationName;
      readonly input: object;
      readonly done: string;
    }
  | { readonly kind: 'refused'; readonly reason: string; readonly next: readonly string[] };

/** `over`: the card below the pointer. */
export function decideDrop(task: TaskSummary, column: Column, over: TaskSummary | undefined): Drop {
  const { id, state } = task;
  if (columnOf(task) === column) return withinColumn(task, column, over);
  switch (column) {
    case 'ready':
      if (state.status === 'in_progress') return does('task.pause', { task: id }, 'paused');
      return refuses(task, 'moved to Ready');
    case 'working':
      if (state.status === 'stuck' || state.status === 'failed')
        return does('task.restart', { task: id }, 'restarted');
      if (state.status === 'paused' || state.status === 'in_review' || state.status === 'needs_attention')
        return does('task.resume', { task: id }, 'resumed');
      if (state.status === 'ready')
        return {
          kind: 'refused',
          reason: `Agents take ready tasks themselves: ${id} starts when one is free.`,
          next: ['copse orchestrate', `copse work ${id}`],
        };
      return refuses(task, 'worked on now');
    case 'landing':
      if (state.status === 'in_review')
        return does('review.approve', { task: id, head: state.head }, 'approved, queued to land');
      if (state.status === 'needs_attention') return does('queue.retry', { tasks: [id] }, 'queued to land');
      return refuses(task, 'queued to land');
    case 'needs':
      if (state.status === 'landing') return does('queue.cancel', { tasks: [id] }, 'taken out of the queue');
      return refuses(task, 'moved to Needs you');
    case 'done':
      return {
        kind: 'refused',
        reason: `${id} moves to Done when it lands. It ${statusPredicate(state.status)}.`,
        next: suggestCommands(task),
      };
    default:
      return unreachable(column);
  }
}

/** Above a card of another priority, it gets that priority. */
function withinColumn(task: TaskSummary, column: Column, over: TaskSummary | undefined): Drop {
  if (column === 'done' || over === undefined || over.id === task.id || over.priority === task.priority)
    return { kind: 'nothing' };
  const priority = formatPriority(over.priority);
  return does('task.edit', { task: task.id, priority }, `has priority ${priority} now`);
}

function does<N extends OperationName>(name: N, input: InputOf<N> & object, done: string): Drop {
  return { kind: 'operation', name, input, done };
}

function refuses(task: TaskSummary, what: string): Drop {
  const reason = `${task.id} cannot be ${what}; it ${statusPredicate(task.state.status)}.`;
  return { kind: 'refused', reason, next: suggestCommands(task) };
}
