/** What happened to a task in the queue, for people who look at it now. */

import type { RecordedEvent } from '../../board/rules/event.ts';
import type { EventNumber, TaskId, Timestamp } from '../../kernel/ids.ts';
import type { BoardReader } from '../../board/port.ts';
import type { Task } from '../../tasks/rules/task.ts';
import { describeResolver } from './conflict-task.ts';

export async function whyItLeftTheQueue(board: BoardReader, task: TaskId): Promise<string | null> {
  const last = (await board.list('landing', { task })).at(-1)?.state;
  return last?.status === 'withdrawn' || last?.status === 'rejected' ? last.reason : null;
}

/** The same, if it left at this moment. */
export async function whyItLeftNow(
  board: BoardReader,
  { id, at }: { readonly id: TaskId; readonly at: Timestamp },
): Promise<string | null> {
  const last = (await board.list('landing', { task: id })).at(-1)?.state;
  return last?.status === 'withdrawn' && last.since === at ? last.reason : null;
}

/** How a landed task got past a conflict. */
export async function howItLanded(board: BoardReader, task: TaskId): Promise<readonly string[]> {
  const landed = (await board.list('landing', { task })).findLast(({ state }) => state.status === 'landed');
  // It landed with the task that resolved its conflict.
  if (landed === undefined) return describeResolver({ board }, { id: task });
  const types = ['task.handed_back', 'task.needs_attention'] as const;
  const back = await board.events({ after: NOTHING_YET, limit: MOST_EVENTS, task, types });
  const isConflict = ({ event }: RecordedEvent) => 'because' in event && event.because === 'conflict';
  return [
    ...(back.some(isConflict) ? ['It had a conflict before, which was resolved on its branch.'] : []),
    ...(landed.note === undefined ? [] : [landed.note]),
  ];
}

/** Why its agent last had to continue after the task had finished; null: it never had to. */
export async function lastHandback(
  board: BoardReader,
  { id, handbacks }: Pick<Task, 'id' | 'handbacks'>,
): Promise<Extract<RecordedEvent['event'], { type: 'task.handed_back' }> | null> {
  if (Object.keys(handbacks).length === 0) return null;
  const types = ['task.handed_back'] as const;
  const last = (await board.events({ after: NOTHING_YET, limit: MOST_EVENTS, task: id, types })).at(-1);
  return last?.event.type === 'task.handed_back' ? last.event : null;
}

const NOTHING_YET = 0 as EventNumber;
/** More than a task is ever handed back. */
const MOST_EVENTS = 100;
