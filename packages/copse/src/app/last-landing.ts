/** Why a task that was in the queue is not any more, where that matters to whoever looks at it now. */

import type { TaskId } from '../domain/ids.ts';
import type { BoardReader } from '../ports/board.ts';

export async function whyItLeftTheQueue(board: BoardReader, task: TaskId): Promise<string | null> {
  const last = (await board.list('landing', { task })).at(-1)?.state;
  return last?.status === 'withdrawn' || last?.status === 'rejected' ? last.reason : null;
}
