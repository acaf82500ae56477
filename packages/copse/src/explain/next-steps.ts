/** What a person can do about a task: only commands that would not be refused, as far as the board can tell. */

import { landingsOf, loadUndoing } from '../queue/act/undoing.ts';
import type { LookContext } from '../queue/context.ts';
import { findUndoable } from '../queue/rules/undo-landing.ts';
import { canTake } from '../tasks/rules/capabilities.ts';
import { type Task, type TaskSummary, isAllowed } from '../tasks/rules/task.ts';
import { unreachable } from '../kernel/unreachable.ts';
import { type AgentName, brand } from '../kernel/ids.ts';
import { workspaceOf } from '../workspaces/act/context.ts';

export async function nextSteps(context: LookContext, task: TaskSummary): Promise<readonly string[]> {
  const { id, state } = task;
  const cancel = `copse cancel ${id}`;
  const byHand = async () => `copse work ${id}${(await hasWorktree(context, task)) ? ' --resume' : ''}`;
  const byAgent = async (verb: 'resume' | 'restart') =>
    hasAgent(context, task) ? `copse ${verb} ${id}` : byHand();
  switch (state.status) {
    case 'pending':
      return [...(await withoutUnmet(context, task)), cancel];
    case 'ready':
      return [await byHand(), ...(hasAgent(context, task) ? [] : otherAgents(context, task)), cancel];
    case 'in_progress':
      return [`copse pause ${id}`, ...(state.claim.isByHand ? [] : [`copse logs ${id}`]), cancel];
    case 'paused':
      return [await byAgent('resume'), cancel];
    case 'stuck': {
      const command = await byAgent('restart');
      return [command.startsWith('copse restart') ? `${command} --answer "…"` : command, cancel];
    }
    case 'failed':
      return [`copse restart ${id}`, cancel];
    case 'in_review':
      return [`copse review ${id}`, `copse merge ${id}`, await byAgent('resume'), cancel];
    case 'needs_attention': {
      const hasCommits = state.because !== 'dirty' && state.because !== 'nothing_committed';
      const ways = new Set([await byAgent('resume'), await byHand()]);
      return [...ways, ...(hasCommits ? [`copse merge ${id}`] : []), cancel];
    }
    case 'landing':
      return [cancel];
    case 'done': {
      const again = hasAgent(context, task) ? [`copse resume ${id}`] : [];
      const undo = (await canUndo(context, task)) ? [`copse undo ${id}`] : [];
      return [...again, ...undo, `copse delete ${id}`];
    }
    case 'cancelled': {
      const cleanup = (await hasWorktree(context, task)) ? [`copse cleanup ${id}`] : [];
      return [...cleanup, await deletion(context, task)];
    }
    default:
      return unreachable(state);
  }
}

/** The task's worktree on this machine, if `copse work` would ask what to do with it. */
export async function hasWorktree(
  context: Pick<LookContext, 'board' | 'node'>,
  { id }: Pick<Task, 'id'>,
): Promise<boolean> {
  return ((await workspaceOf(context, id))?.worktree ?? null) !== null;
}

function hasAgent({ agents }: LookContext, task: TaskSummary): boolean {
  return agents.some(
    ({ name, capabilities }) => canTake(task, { name: brand<AgentName>(name), capabilities }).kind === 'can',
  );
}

function otherAgents({ agents }: LookContext, { id, agent, requires }: TaskSummary): readonly string[] {
  return [
    ...(agent === null || agents.some(({ name }) => name === agent) ? [] : [`copse edit ${id} --no-agent`]),
    ...(requires.length === 0 ? [] : [`copse edit ${id} --no-requires`]),
    'copse agents',
  ];
}

async function withoutUnmet(
  { board }: LookContext,
  { id, dependsOn }: TaskSummary,
): Promise<readonly string[]> {
  const statuses = await board.statuses(dependsOn);
  const unmet = dependsOn.find((one) => statuses.get(one) !== 'done');
  if (unmet === undefined) return [];
  return [...(statuses.has(unmet) ? [`copse why ${unmet}`] : []), `copse edit ${id} --not-depends ${unmet}`];
}

async function canUndo({ board }: LookContext, task: TaskSummary): Promise<boolean> {
  const landings = await landingsOf(board, task.id);
  const undoings = await loadUndoing(board, task.id, landings);
  const found = findUndoable(task, landings, (landing) => undoings.get(landing) ?? { kind: 'none' });
  return found.kind !== 'refused';
}

/** A task that others wait for is deleted only together with those links. */
async function deletion({ board }: LookContext, { id }: TaskSummary): Promise<string> {
  const dependants = await board.dependants(id);
  const statuses = await board.statuses(dependants);
  const isWaitedFor = dependants.some((one) => isAllowed('change_dependencies', statuses.get(one) ?? 'done'));
  return `copse delete ${id}${isWaitedFor ? ' --unlink' : ''}`;
}
