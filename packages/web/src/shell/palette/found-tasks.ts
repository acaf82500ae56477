/** Tasks by id or title, unfinished ones first. Stops as soon as there are enough. */

import { type TaskSummary, isFinished } from '../../../../copse/src/tasks/rules/task.ts';

const MOST = 20;

export function foundTasks(tasks: Iterable<TaskSummary>, text: string): readonly TaskSummary[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const open: TaskSummary[] = [];
  const finished: TaskSummary[] = [];
  for (const task of tasks) {
    const name = `${task.id} ${task.title}`.toLowerCase();
    if (!words.every((word) => name.includes(word))) continue;
    const list = isFinished(task.state.status) ? finished : open;
    if (list.length < MOST) list.push(task);
    if (open.length >= MOST) break;
  }
  return [...open, ...finished].slice(0, MOST);
}
