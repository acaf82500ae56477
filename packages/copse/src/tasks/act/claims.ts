/** Claims a ready task: of any number of processes, exactly one gets it. */

import { type Claimant, decideClaim } from '../rules/claim.ts';
import type { TaskId } from '../../kernel/ids.ts';
import type { Task } from '../rules/task.ts';
import { type Context, type Outcome, change } from '../../board/context.ts';

export async function claimTask(context: Context, id: TaskId, claimant: Claimant): Promise<Outcome<Task>> {
  return change(context, async (change) => {
    const task = await change.require('task', id);
    await change.apply(decideClaim(task, claimant, change.at, context.policy.lease));
    return change.require('task', id);
  });
}

export interface ClaimRequest {
  readonly claimant: Claimant;
  readonly capabilities: readonly string[];
}

/** Claims the most urgent task that this agent may take; undefined when there is none. */
export async function claimNext(
  context: Context,
  { claimant, capabilities }: ClaimRequest,
): Promise<Task | undefined> {
  const agent = { name: claimant.agent, capabilities };
  const outcome = await change(context, async (change) => {
    const task = await change.board.nextReady({ at: change.at, agent, node: claimant.node });
    if (task === undefined) return undefined;
    await change.apply(decideClaim(task, claimant, change.at, context.policy.lease));
    return change.require('task', task.id);
  });
  if (outcome.kind === 'refused')
    throw new Error(`A ready task could not be claimed: ${outcome.refusal.reason}`);
  return outcome.value;
}
