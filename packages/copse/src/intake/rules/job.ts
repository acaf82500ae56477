/** What became of a job, by the state of its task. */

import type { TaskState } from '../../tasks/rules/task.ts';

export const jobResults = [
  'waiting',
  'running',
  'landing',
  'done',
  'needs_person',
  'failed',
  'cancelled',
] as const;
export type JobResult = (typeof jobResults)[number];

const RESULTS: Readonly<Record<TaskState['status'], JobResult>> = {
  pending: 'waiting',
  ready: 'waiting',
  in_progress: 'running',
  landing: 'landing',
  done: 'done',
  paused: 'needs_person',
  stuck: 'needs_person',
  in_review: 'needs_person',
  needs_attention: 'needs_person',
  failed: 'failed',
  cancelled: 'cancelled',
};

export function jobResult({ status }: TaskState): JobResult {
  return RESULTS[status];
}

/** Why it did not succeed; null when nothing is wrong. */
export function jobError(state: TaskState): string | null {
  return 'reason' in state ? state.reason : null;
}
