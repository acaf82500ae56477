import type { OutputOf } from '../../api/operations.ts';
import { phaseWord } from '../../parts/status-word.ts';

/** What the agent of a task reported last; null unless it works now. */
export function phaseText({ status, phase }: Pick<OutputOf<'task.show'>, 'status' | 'phase'>): string | null {
  if (status !== 'in_progress') return null;
  return phaseWord(phase);
}
