/** In which repository a task is worked on: the board's own (null), or that of an agent with a `working_directory`. */

import type { AgentName } from '../../kernel/ids.ts';
import type { Task } from './task.ts';

export type PlacedTask = Pick<Task, 'repository' | 'token' | 'agent'>;

/** The first claim decides; before it, the agent that the task names. */
export function repositoryOf(
  { repository, token, agent }: PlacedTask,
  rootOf: (agent: AgentName) => string | null,
): string | null {
  if (repository !== undefined) return repository;
  return token > 0 || agent === null ? null : rootOf(agent);
}

/** An agent elsewhere takes only tasks that name it: any other task is about the board's own repository. */
export function repositoryFits(
  task: PlacedTask,
  agent: { readonly name: AgentName; readonly repository: string | null },
): boolean {
  if (task.token > 0 || task.repository !== undefined) return (task.repository ?? null) === agent.repository;
  return agent.repository === null || task.agent === agent.name;
}
