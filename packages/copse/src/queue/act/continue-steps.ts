/** How the work on a task goes on: by its agent, if it can run here, or by a person. */

import { type AgentName, type TaskId, brand } from '../../kernel/ids.ts';
import { shellWord } from '../../kernel/shell.ts';
import { agentCanTake } from '../../machines/rules/offer.ts';
import type { Task, TaskSummary } from '../../tasks/rules/task.ts';
import { workspaceOf } from '../../workspaces/act/context.ts';
import type { LookContext } from '../context.ts';

/** Its agent goes on, if it can run here, or a person does. */
export async function continuing(
  context: Pick<LookContext, 'agents' | 'agentCommand' | 'board' | 'node'>,
  task: TaskSummary,
): Promise<readonly [string, ...string[]]> {
  const { id } = task;
  const yourself = untilFinished(`${await commandByHand(context, task)} # to continue yourself`, id);
  const byAgent = `copse resume ${id}${sameCommand(context)} # to let its agent continue`;
  return (await hasAgent(context, task)) ? [byAgent, yourself] : [yourself];
}

export async function commandByHand(
  context: Pick<LookContext, 'board' | 'node'>,
  task: Pick<Task, 'id'>,
): Promise<string> {
  return `copse work ${task.id}${(await hasWorktree(context, task)) ? ' --resume' : ''}`;
}

/** The task's worktree on this machine, if `copse work` would ask what to do with it. */
export async function hasWorktree(
  context: Pick<LookContext, 'board' | 'node'>,
  { id }: Pick<Task, 'id'>,
): Promise<boolean> {
  return ((await workspaceOf(context, id))?.worktree ?? null) !== null;
}

export async function hasAgent(
  { agents, board, node }: Pick<LookContext, 'agents' | 'board' | 'node'>,
  task: Pick<TaskSummary, 'agent' | 'requires'>,
): Promise<boolean> {
  const offering = (await board.get('node', node))?.facts ?? null;
  return agents.some(({ name, capabilities }) => {
    const agent = { name: brand<AgentName>(name), capabilities };
    return agentCanTake(task, agent, offering).kind === 'can';
  });
}

/** `copse merge` refuses a task that a person holds. */
export function untilFinished(step: string, id: TaskId): string {
  return `${step} (end with copse finish ${id})`;
}

/** A command that was given once is unknown to the next command. */
export function sameCommand({ agentCommand }: Pick<LookContext, 'agentCommand'>): string {
  return agentCommand === undefined ? '' : ` --command ${shellWord(agentCommand)}`;
}
