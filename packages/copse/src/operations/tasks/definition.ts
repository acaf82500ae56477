/** What `task.add` and `task.edit` say about a task. */

import type { Board } from '../../board/port.ts';
import { nearest } from '../../config/problems/nearest.ts';
import type { DefinitionInput } from '../../tasks/act/definition.ts';
import type { CloneHere } from '../access.ts';
import { fail } from '../failure.ts';
import { requirePlanId } from '../find.ts';

/** Null clears a value. */
export interface TaskInput extends Pick<
  DefinitionInput,
  'body' | 'priority' | 'kind' | 'areas' | 'requires' | 'accept' | 'agent'
> {
  readonly plan?: string | null | undefined;
}

export async function readTaskInput(
  board: Board,
  { body, priority, kind, areas, requires, accept, agent, plan }: TaskInput,
): Promise<DefinitionInput> {
  return {
    body,
    priority,
    kind,
    areas,
    requires,
    accept,
    agent,
    plan: typeof plan === 'string' ? await requirePlanId(board, plan) : plan,
  };
}

/**
 * An agent that copse.yml does not have is a mistake. If it names none, each machine uses the agent program that it has: then
 * the task waits for one of that name, and this is false.
 */
export async function requireAgent(here: CloneHere, agent: string | null | undefined): Promise<boolean> {
  if (typeof agent !== 'string' || agent === '') return true;
  const { agents } = await here.config();
  const known = Object.keys(agents);
  if (known.includes(agent)) return true;
  const pending = await here.pendingConfig();
  if (pending !== undefined && Object.hasOwn(pending.agents, agent))
    fail('invalid', `The accepted copse.yml has no agent ${JSON.stringify(agent)}.`, 'copse config accept');
  if (known.length === 0) return false;
  const near = nearest(agent, known);
  const meant = near === undefined ? '' : ` Did you mean ${near}?`;
  return fail(
    'invalid',
    `copse.yml has no agent ${JSON.stringify(agent)}.${meant} Agents: ${known.join(', ')}.`,
    'copse agents',
  );
}
