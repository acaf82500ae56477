/** What happens to a task after a command has changed it: which process continues it, or which command a person runs. */

import type { TaskSummary } from '../../tasks/rules/task.ts';
import type { TaskId } from '../../kernel/ids.ts';
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
  /** Names of other nodes that can start it, or land it. */
  readonly elsewhere?: readonly string[] | undefined;
  /** A person paused the queue that it waits in: why, and the command that resumes it. */
  readonly paused?: { readonly text: string; readonly resume: string } | undefined;
}

const NONE_RUNS = 'No orchestrator is running';

export function aheadOf(
  task: Pick<TaskSummary, 'id' | 'state'>,
  { isOrchestrated, pollIntervalMs, noAgents, untaken, paused, held = null, elsewhere = [] }: AheadFacts,
): Ahead {
  const { id, state } = task;
  switch (state.status) {
    case 'ready':
      if (!isOrchestrated && elsewhere.length > 0)
        return {
          text: `An orchestrator on ${anyOf(elsewhere)} starts it within ${spanText(pollIntervalMs)}, if an agent is free.`,
          commands: [`copse why ${id}`],
        };
      if (noAgents !== null) return { text: noAgents.text, commands: [noAgents.command, doItYourself(id)] };
      if (untaken !== null) return { text: untaken, commands: [`copse why ${id}`, doItYourself(id)] };
      if (isOrchestrated && held !== null)
        return { text: held.text, commands: [held.command, doItYourself(id)] };
      return isOrchestrated
        ? {
            text: `A running orchestrator starts it within ${spanText(pollIntervalMs)}, if an agent is free.`,
            commands: [`copse why ${id}`],
          }
        : {
            text: `${NONE_RUNS}: start one, and agents work on the tasks.`,
            commands: ['copse orchestrate', doItYourself(id)],
          };
    case 'landing':
      if (paused !== undefined) return { text: `It waits: ${paused.text}.`, commands: [paused.resume] };
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

function doItYourself(id: TaskId): string {
  return `copse work ${id} # to do it yourself`;
}
