/** What `restart`, `resume`, `pause`, `cancel` and a review that sends work back print about their task. */

import type { GoneOn } from '../../agents/act/go-on.ts';
import type { Stopped } from '../../agents/act/stop-task.ts';
import { processList } from '../../kernel/process.ts';
import { shown } from '../../kernel/text.ts';
import type { Access } from '../../operations/access.ts';
import { agentNamed } from '../../explain/rules/amounts.ts';
import { nextSteps } from '../../explain/next-steps.ts';
import { hasWorktree } from '../../queue/act/continue-steps.ts';
import { type RunContext, contextToStop } from '../../queue/context.ts';
import type { Cli } from '../invocation.ts';
import { printSteps } from './next-steps.ts';
import { printAhead } from './ahead.ts';

/** `act`: what the command did. `agent` is null when the task waits for an orchestrator. */
export async function printStarted(
  cli: Cli,
  context: RunContext,
  { task, agent, act }: GoneOn & { readonly act: 'Restarted' | 'Resumed' | 'Sent back' },
): Promise<void> {
  const { output } = cli;
  const { id, title } = task;
  if (agent === null && act !== 'Sent back')
    output.line(`${output.style('cyan', id)} is ready to start again: ${shown(title)}`);
  else output.line(`${output.style('cyan', act)} ${id} ${shown(title)}`);
  if (agent === null) await printAhead(cli, context, task);
  else output.line(`    ${agentNamed(shown(agent))} is working on it: copse logs ${id} --follow`);
}

export async function printStopped(
  { output }: Cli,
  access: Access,
  { task, remaining, isElsewhere }: Stopped,
): Promise<void> {
  const { id, title, state } = task;
  const act = state.status === 'cancelled' ? 'Cancelled' : 'Paused';
  output.line(`${output.style('yellow', act)} ${id} ${shown(title)}`);
  if (isElsewhere) output.line('    Its agent runs on another machine, which ends it within seconds.');
  if (remaining.length > 0) output.line(`    These processes could not be ended: ${processList(remaining)}`);
  await access.run(async (run) => {
    const context = await contextToStop(run, task);
    if (await hasWorktree(context, task))
      output.line(output.style('dim', '    Its worktree stays as it is.'));
    printSteps(output, await nextSteps(context, task));
  });
}
