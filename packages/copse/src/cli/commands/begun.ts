/** How a task that goes on is told. */

import type { GoneOn } from '../../agents/act/go-on.ts';
import { shown } from '../../kernel/text.ts';
import { taskView } from '../../operations/views/views.ts';
import type { Cli } from '../invocation.ts';

export function printBegun(
  { output }: Cli,
  { task, agent }: GoneOn,
  { json }: { readonly json?: boolean },
): void {
  if (json) {
    output.json({ task: taskView(task), agent });
    return;
  }
  const { id, title, state } = task;
  output.line(`${output.style('cyan', state.status)} ${id} ${shown(title)}`);
  if (agent === null) output.line('    An orchestrator starts it at its next look: copse orchestrate');
  else output.line(`    ${shown(agent)} works on it now: copse logs ${id} --follow`);
}
