/** How the work on a task goes on: by its agent, if it can run here, or by a person. */

import { type AgentName, type TaskId, brand } from '../../kernel/ids.ts';
import { shellWord } from '../../kernel/shell.ts';
import type { NodeFacts } from '../../machines/rules/node.ts';
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
  if (await hasAgent(context, task)) return [byAgent, yourself];
  const byCommand = `copse resume ${id} --command "…" # to continue with a command as its agent`;
  return isForAny(task) ? [yourself, byCommand] : [yourself];
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
  return canOneTake(task, agents, (await board.get('node', node))?.facts ?? null);
}

function canOneTake(
  task: Pick<TaskSummary, 'agent' | 'requires'>,
  agents: readonly { readonly name: string; readonly capabilities: readonly string[] }[],
  facts: NodeFacts | null,
): boolean {
  return agents.some(({ name, capabilities }) => {
    const agent = { name: brand<AgentName>(name), capabilities };
    return agentCanTake(task, agent, facts).kind === 'can';
  });
}

export function isForAny({ agent, requires }: Pick<TaskSummary, 'agent' | 'requires'>): boolean {
  return agent === null && requires.length === 0;
}

/** By an agent that the orchestrator of this machine was started with, such as that of its `--command`. */
export async function isTakenHere(
  { board, node }: Pick<LookContext, 'board' | 'node'>,
  task: TaskSummary,
): Promise<boolean> {
  const told = (await board.get('node', node))?.facts ?? null;
  return canOneTake(task, told?.capabilities.agents ?? [], told);
}

/** `copse merge` refuses a task that a person holds. */
export function untilFinished(step: string, id: TaskId): string {
  return `${step} (end with copse finish ${id})`;
}

/** A command that was given once is unknown to the next command. */
export function sameCommand({ agentCommand }: Pick<LookContext, 'agentCommand'>): string {
  return agentCommand === undefined ? '' : ` --command ${shellWord(agentCommand)}`;
}
