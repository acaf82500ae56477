/** What operations return that stop a task or let it go on. */

import type { GoneOn } from '../../agents/act/go-on.ts';
import type { Stopped } from '../../agents/act/stop-task.ts';
import { taskView } from '../views/views.ts';

export function stoppedView({ task, remaining }: Stopped) {
  return { task: taskView(task), remaining: remaining.length };
}

export function startedView({ task, agent }: GoneOn) {
  return { task: taskView(task), agent };
}
