/** What happens to a task after a command has changed it: which process continues it, or which command a person runs. */

import type { TaskSummary } from '../../tasks/rules/task.ts';
import { suggestCommands } from '../../tasks/rules/task.ts';
import { spanText } from '../../kernel/time.ts';

export interface Ahead {
  /** A sentence; null when the status says it all. */
  readonly text: string | null;
  readonly commands: readonly string[];
}

export interface AheadFacts {
  /** An orchestrator runs on this machine. */
  readonly isOrchestrated: boolean;
  readonly pollIntervalMs: number;
}

const NONE_RUNS = 'No orchestrator is running';

export function aheadOf(
  task: Pick<TaskSummary, 'id' | 'state'>,
  { isOrchestrated, pollIntervalMs }: AheadFacts,
): Ahead {
  const { id, state } = task;
  switch (state.status) {
    case 'ready':
      return isOrchestrated
        ? {
            text: `A running orchestrator starts it within ${spanText(pollIntervalMs)}, if an agent is free.`,
            commands: [`copse why ${id}`],
          }
        : {
            text: `${NONE_RUNS}: start one, and agents work on the tasks.`,
            commands: ['copse orchestrate', `copse work ${id} (to do it yourself)`],
          };
    case 'landing':
      return isOrchestrated
        ? { text: 'A running orchestrator lands it.', commands: [`copse why ${id}`] }
        : {
            text: `${NONE_RUNS}, so it waits in the queue until you land it or start one.`,
            commands: [`copse merge ${id} (lands it now)`, 'copse orchestrate'],
          };
    case 'in_review':
      return { text: null, commands: [`copse ${state.pullRequest === null ? 'review' : 'why'} ${id}`] };
    case 'in_progress':
      return state.claim.isByHand
        ? { text: null, commands: [`copse finish ${id} (when your work is committed)`] }
        : { text: null, commands: [`copse logs ${id} --follow`] };
    case 'done':
      return { text: null, commands: [] };
    case 'pending':
      return { text: null, commands: [`copse why ${id}`] };
    default:
      return { text: null, commands: suggestCommands(task).slice(0, 1) };
  }
}
