/**
 * What a node that drains does: it starts nothing; its running work goes on until the deadline, and is then handed over. A
 * task that a person moved to another node is handed over at once. Work by hand stays.
 */

import type { Node } from '../../machines/rules/node.ts';
import type { TaskSummary } from '../../tasks/rules/task.ts';
import type { HeldTask } from './reconcile.ts';

export interface HandOver {
  readonly held: HeldTask & { readonly attempt: NonNullable<HeldTask['attempt']> };
  readonly because: 'drained' | 'moved';
  readonly reason: string;
}

export function decideHandOvers(
  running: readonly { readonly task: Pick<TaskSummary, 'moveTo'>; readonly held: HeldTask }[],
  here: Pick<Node, 'id' | 'name'>,
  isOver: boolean,
): readonly HandOver[] {
  return running.flatMap(({ task: { moveTo }, held }): readonly HandOver[] => {
    if (held.node !== here.id || held.attempt === null) return [];
    const of = { ...held, attempt: held.attempt };
    if (moveTo != null && moveTo.node !== here.id)
      return [{ held: of, because: 'moved', reason: `it was moved to node ${moveTo.name}` }];
    return isOver ? [{ held: of, because: 'drained', reason: drainReason(here) }] : [];
  });
}

export function drainReason({ name }: Pick<Node, 'name'>): string {
  return `node ${name} is draining`;
}
