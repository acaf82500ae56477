import type { TaskStatus } from '../../../copse/src/tasks/rules/task.ts';

export function statusWord(status: TaskStatus): string {
  return status.replaceAll('_', ' ');
}
