/** How far the tasks of a plan are. */

import { type TaskStatus, type TaskSummary, taskStatuses } from '../../tasks/rules/task.ts';

/** `2 of 5 done, 1 in progress, 2 ready`. */
export function progressText(tasks: readonly TaskSummary[]): string {
  const count = (status: TaskStatus) => tasks.filter(({ state }) => state.status === status).length;
  const others = taskStatuses
    .filter((status) => status !== 'done' && count(status) > 0)
    .map((status) => `${count(status)} ${status.replaceAll('_', ' ')}`);
  return [`${count('done')} of ${tasks.length} done`, ...others].join(', ');
}
