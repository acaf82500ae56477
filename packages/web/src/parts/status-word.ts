import { reportedPhase } from '../../../copse/src/agents/rules/session/session.ts';
import type { TaskStatus } from '../../../copse/src/tasks/rules/task.ts';

export function statusWord(status: TaskStatus): string {
  return status.replaceAll('_', ' ');
}

/** What an agent reported last; null until it reported a phase. */
export function phaseWord(phase: Parameters<typeof reportedPhase>[0] | null): string | null {
  return reportedPhase(phase ?? undefined)?.replaceAll('_', ' ') ?? null;
}
