/** What an edit means for an agent that works on the task: it was told the text when its turn began. */

import { sessionFrom } from '../../board/rules/author.ts';
import type { LookContext } from '../../queue/context.ts';
import { hasAgent, sameCommand } from '../../queue/act/continue-steps.ts';
import type { Task } from '../../tasks/rules/task.ts';
import { shown } from '../../kernel/text.ts';
import type { Cli } from '../invocation.ts';
import { printProse } from '../screen/screen.ts';
import { printSteps } from './next-steps.ts';

/** Undefined when no agent works on it. */
export function agentAtWork({ state }: Task): string | undefined {
  return state.status === 'in_progress' && !state.claim.isByHand ? state.claim.agent : undefined;
}

/** Agents are told nothing: `copse resume` is for people only. */
export async function printUntold({ env, output }: Cli, context: LookContext, task: Task): Promise<void> {
  const agent = agentAtWork(task);
  if (agent === undefined || sessionFrom(env) !== undefined) return;
  const { id } = task;
  printProse(output, `    Its agent ${shown(agent)} still works with the old text.`, 4);
  const command = (await hasAgent(context, task)) ? sameCommand(context) : ' --command "…"';
  printSteps(output, [
    `copse pause ${id} && copse resume ${id}${command} # to start it again with the new text`,
  ]);
}
