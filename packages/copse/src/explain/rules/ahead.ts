/** What happens to a task after a command has changed it: which process continues it, or which command a person runs. */

import type { TaskSummary } from '../../tasks/rules/task.ts';
import { anyOf } from '../../kernel/text.ts';
import { spanText } from '../../kernel/time.ts';
import type { Lack } from './waiting.ts';

export interface Ahead {
  /** A sentence; null when the status says it all. */
  readonly text: string | null;
  readonly commands: readonly string[];
}

export interface AheadFacts {
  /** An orchestrator runs on this machine. */
  readonly isOrchestrated: boolean;
  readonly pollIntervalMs: number;
  /** Why no orchestrator can start here; null when one can. */
  readonly noAgents: Lack | null;
  /** Of a ready task: why no agent of this repository can take it; null when one can. */
  readonly untaken: string | null;
  /** Why the orchestrator that runs here does not start it; null when it can. */
  readonly held?: Lack | null | undefined;
  /** A person who does it continues in the worktree that it has on this machine. */
  readonly hasWorktree?: boolean;
  /** The repository has no commit that a worktree could start from. */
  readonly lacksCommit?: boolean;
  /** Names of other nodes that can start it, or land it. */
  readonly elsewhere?: readonly string[] | undefined;
  /** The queue that it is in cannot land it now: why, and the commands that change that. */
  readonly waits?: { readonly text: string; readonly commands: readonly string[] } | undefined;
}

export const FIRST_COMMIT = 'git commit --allow-empty --message="First commit" # to make the first commit';
export const LACKS_COMMIT = 'The repository has no commit, and a worktree starts from one.';

const NONE_RUNS = 'No orchestrator is running here';

export function aheadOf(task: Pick<TaskSummary, 'id' | 'state'>, facts: AheadFacts): Ahead {
  const { isOrchestrated, pollIntervalMs, noAgents, untaken, waits, held = null, elsewhere = [] } = facts;
  const { id, state } = task;
  const doItYourself = `copse work ${id}${facts.hasWorktree ? ' --resume' : ''} # to do it yourself`;
  switch (state.status) {
    case 'ready':
      if (!isOrchestrated && elsewhere.length > 0)
        return {
          text: `An orchestrator on ${anyOf(elsewhere)} starts it within ${spanText(pollIntervalMs)}, if an agent is free.`,
          commands: [`copse why ${id}`],
        };
      if (facts.lacksCommit)
        return {
          text: noAgents === null ? LACKS_COMMIT : `${LACKS_COMMIT} ${noAgents.text}`,
          commands: [FIRST_COMMIT, ...(noAgents === null ? [] : [`${noAgents.command} # to find an agent`])],
        };
      if (noAgents !== null) return { text: noAgents.text, commands: [noAgents.command, doItYourself] };
      if (untaken !== null) return { text: untaken, commands: [`copse why ${id}`, doItYourself] };
      if (isOrchestrated && held !== null) return { text: held.text, commands: [held.command, doItYourself] };
      return isOrchestrated
        ? {
            text: `A running orchestrator starts it within ${spanText(pollIntervalMs)}, if an agent is free.`,
            commands: [`copse why ${id}`],
          }
        : {
            text: `${NONE_RUNS}: start one, and agents work on the tasks.`,
            commands: ['copse orchestrate', doItYourself],
          };
    case 'landing':
      if (waits !== undefined) return { text: `It waits: ${waits.text}.`, commands: waits.commands };
      if (!isOrchestrated && elsewhere.length > 0)
        return {
          text: `An orchestrator on ${anyOf(elsewhere)} lands it.`,
          commands: [`copse why ${id}`],
        };
      return isOrchestrated
        ? { text: 'A running orchestrator lands it.', commands: [`copse why ${id}`] }
        : {
            text: `${NONE_RUNS}, so it waits in the queue until you land it${noAgents === null ? ' or start one' : ''}.`,
            commands: [
              `copse merge ${id} # to land it now`,
              ...(noAgents === null ? ['copse orchestrate # to let an orchestrator land it'] : []),
            ],
          };
    case 'in_review':
      return { text: null, commands: [`copse ${state.pullRequest === null ? 'review' : 'why'} ${id}`] };
    case 'in_progress':
      return state.claim.isByHand
        ? { text: null, commands: [`copse finish ${id} # when your work is committed`] }
        : { text: null, commands: [`copse logs ${id} --follow`] };
    case 'done':
      return { text: null, commands: [] };
    default:
      return { text: null, commands: [`copse why ${id}`] };
  }
}
