/** Does what dropping a card decides; where the board does not show what it is about, it asks first. */

import type { ReactNode } from 'react';

import type { TaskSummary } from '../../../../copse/src/tasks/rules/task.ts';
import type { Client } from '../../api/client.ts';
import { AskFirst } from '../../parts/ask-first.tsx';
import { performWith } from '../../parts/perform.ts';
import type { Toast } from '../../parts/shown-toasts.ts';
import type { Column } from './columns.ts';
import { decideDrop } from './drop.ts';

interface Acts {
  readonly toast: (toast: Toast) => void;
  readonly client: Client;
  /** Shows a question on the page; null takes it away. */
  readonly ask: (question: ReactNode) => void;
}

/** Without a task: it was deleted meanwhile. */
export function dropCard(
  task: TaskSummary | undefined,
  column: Column,
  over: TaskSummary | undefined,
  { client, toast, ask }: Acts,
): void {
  if (task === undefined) return;
  const drop = decideDrop(task, column, over);
  if (drop.kind === 'refused') toast({ text: drop.reason, isProblem: true, next: drop.next });
  if (drop.kind !== 'operation') return;
  const { name, input, done, label, command, confirms } = drop;
  const run = () => void performWith({ client, toast }, name, input as never, done);
  if (confirms === undefined) run();
  else ask(<AskFirst {...confirms} {...{ label, command }} onConfirm={run} onClose={() => ask(null)} />);
}
