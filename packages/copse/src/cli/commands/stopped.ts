/** How a task that a person stopped is told. */

import type { Stopped } from '../../agents/act/stop-task.ts';
import { suggestCommands } from '../../tasks/rules/task.ts';
import { shown } from '../../kernel/text.ts';
import { taskView } from '../../operations/views/views.ts';
import type { Cli } from '../invocation.ts';

export function printStopped(
  { output }: Cli,
  { task, remaining, isElsewhere }: Stopped,
  { json }: { readonly json?: boolean },
): void {
  if (json) {
    output.json({ task: taskView(task), remaining });
    return;
  }
  const { id, title, state } = task;
  output.line(`${output.style('yellow', state.status)} ${id} ${shown(title)}`);
  if (isElsewhere) output.line('    Its agent runs on another node, which ends it within seconds.');
  if (remaining > 0) output.line(`    ${remaining} of its processes could not be ended.`);
  output.line(output.style('dim', '    Its worktree is kept as it is.'));
  output.line(output.style('dim', `  → ${suggestCommands(task)[0]}`));
}
