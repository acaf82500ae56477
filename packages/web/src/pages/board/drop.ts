/** What dropping a card into a column does: an operation, or the reason why there is none and the command that would help. */

import { unreachable } from '../../../../copse/src/kernel/unreachable.ts';
import {
  type TaskSummary,
  statusPredicate,
  suggestCommands,
} from '../../../../copse/src/tasks/rules/task.ts';
import { formatPriority } from '../../../../copse/src/tasks/rules/priority.ts';
import type { Confirmation } from '../../api/destroying.ts';
import type { OperationName } from '../../api/operations.ts';
import type { Toast } from '../../parts/shown-toasts.ts';
import { doneToast, operationNamed } from '../../parts/task-operations.ts';
import { type Column, columnOf } from './columns.ts';

export type Drop =
  | { readonly kind: 'nothing' }
  | {
      readonly kind: 'operation';
      readonly name: OperationName;
      readonly label: string;
      readonly input: object;
      readonly command: string;
      /** The board does not show what it is about. */
      readonly confirms: Confirmation | undefined;
      readonly done: (output: unknown) => Toast;
    }
  | { readonly kind: 'refused'; readonly reason: string; readonly next: readonly string[] };

/** `over`: the card below the pointer. */
export function decideDrop(task: TaskSummary, column: Column, over: TaskSummary | undefined): Drop {
  const { id, state } = task;
  if (columnOf(task) === column) return withinColumn(task, column, over);
  switch (column) {
    case 'ready':
      if (state.status === 'in_progress') return does('task.pause', task);
      return refuses(task, 'moved to Ready');
    case 'working':
      if (state.status === 'stuck' || state.status === 'failed') return does('task.restart', task);
      if (state.status === 'paused' || state.status === 'in_review' || state.status === 'needs_attention')
        return does('task.resume', task);
      if (state.status === 'ready')
        return {
          kind: 'refused',
          reason: `Agents take ready tasks themselves: ${id} starts when one is free.`,
          next: ['copse orchestrate', `copse work ${id}`],
        };
      return refuses(task, 'worked on now');
    case 'landing':
      if (state.status === 'in_review') return does('review.approve', task);
      if (state.status === 'needs_attention') return does('queue.retry', task);
      return refuses(task, 'queued to land');
    case 'needs':
      if (state.status === 'landing') return does('queue.cancel', task);
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
  return does('task.edit', task, formatPriority(over.priority));
}

/** As the palette does it. */
function does(name: OperationName, task: TaskSummary, text = ''): Drop {
  const operation = operationNamed(name);
  const facts = { task, session: undefined };
  return {
    kind: 'operation',
    name,
    label: operation.label,
    input: operation.input(facts, text),
    command: operation.command(facts, text),
    confirms: operation.confirms?.(facts),
    done: (output) => doneToast(operation, task, output),
  };
}

function refuses(task: TaskSummary, what: string): Drop {
  const reason = `${task.id} cannot be ${what}; it ${statusPredicate(task.state.status)}.`;
  return { kind: 'refused', reason, next: suggestCommands(task) };
}
