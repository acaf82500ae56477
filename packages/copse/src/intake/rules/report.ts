/**
 * What a source is told about a task: its phase, in one comment that is edited in place, and in labels. A report has no
 * reason, path or output: the item may be public.
 */

import type { TaskId, Timestamp } from '../../kernel/ids.ts';
import type { Task, TaskStatus } from '../../tasks/rules/task.ts';
import type { Item, ReportPhase } from './item.ts';

const phases: Readonly<Record<TaskStatus, ReportPhase>> = {
  pending: 'queued',
  ready: 'queued',
  in_progress: 'working',
  paused: 'waiting',
  stuck: 'waiting',
  needs_attention: 'waiting',
  failed: 'waiting',
  in_review: 'review',
  landing: 'review',
  done: 'done',
  cancelled: 'cancelled',
};

export interface DueItem {
  readonly item: Item;
  readonly phase: ReportPhase;
}

export interface Reported {
  readonly kind: 'reported';
  readonly items: readonly Item[];
  /** For people: what else was done, or could not be told. */
  readonly notes: readonly string[];
  /** The last item that could not be told; null: none. The others were. */
  readonly problem: UntoldProblem | null;
}

interface UntoldProblem {
  readonly kind: 'failed';
  readonly reason: string;
  readonly until: Timestamp | null;
}

/** A deleted task counts as cancelled. */
function phaseOf(status: TaskStatus | undefined): ReportPhase {
  return status === undefined ? 'cancelled' : phases[status];
}

/** The phase to report; null: nothing is due. An item whose task never began is told nothing. */
export function dueReport(item: Pick<Item, 'report'>, status: TaskStatus | undefined): ReportPhase | null {
  const phase = phaseOf(status);
  if (item.report === null) return phase === 'queued' || phase === 'cancelled' ? null : phase;
  return item.report.phase === phase ? null : phase;
}

/** A box has two states, and a line that no longer says what was done stays as it is. */
export function isTickDue({ changedAt }: Pick<Item, 'changedAt'>, phase: ReportPhase): boolean {
  return phase === 'done' && changedAt === null;
}

/** Found again by it after an answer was lost. Only this board knows the task's id before the comment exists. */
export function reportMarker(task: TaskId): string {
  return `<!-- copse-status ${task} -->`;
}

export function reportText(
  task: Pick<Task, 'id' | 'state'> | undefined,
  id: TaskId,
  phase: ReportPhase,
): string {
  return `${reportMarker(id)}\n**Copse** · task \`${id}\`: ${sentence(task, phase)}\n`;
}

function sentence(task: Pick<Task, 'state'> | undefined, phase: ReportPhase): string {
  const state = task?.state;
  switch (phase) {
    case 'queued':
      return 'waiting to start.';
    case 'working':
      return 'an agent is working on it.';
    case 'waiting':
      return 'stopped, and waiting for a person.';
    case 'review': {
      const pull = state?.status === 'in_review' ? state.pullRequest : null;
      const url = pull !== null && pull.is !== 'given_up' && 'url' in pull ? pull.url : null;
      return url === null ? 'finished, and waiting to be merged.' : `finished, in review: ${url}`;
    }
    case 'done': {
      const commit = state?.status === 'done' ? state.commit : null;
      return commit === null ? 'done.' : `done in ${commit}.`;
    }
    case 'cancelled':
      return 'cancelled.';
    default:
      throw new Error(`A report cannot be about ${String(phase satisfies never)}`);
  }
}

export const reportLabels = ['copse:working', 'copse:review', 'copse:done'] as const;
export type ReportLabel = (typeof reportLabels)[number];

const labels: Readonly<Record<ReportPhase, ReportLabel | null>> = {
  queued: null,
  working: 'copse:working',
  waiting: 'copse:working',
  review: 'copse:review',
  done: 'copse:done',
  cancelled: null,
};

export function labelOf(phase: ReportPhase): ReportLabel | null {
  return labels[phase];
}
