/** A task that was deleted: its events stay, and say what became of it. */

import { EventTasks } from '../explain/event-tasks.ts';
import { eventsSoFar } from '../board/events-so-far.ts';
import type { Board } from '../board/port.ts';
import type { RecordedEvent } from '../board/rules/event.ts';
import { type EventNumber, type TaskId, brand } from '../kernel/ids.ts';
import { shown } from '../kernel/text.ts';
import { time } from '../kernel/time.ts';
import { unreachable } from '../kernel/unreachable.ts';
import { OperationFailed } from './failure.ts';

/** Returns if the board never had this task. */
export async function failIfDeleted(board: Board, id: TaskId): Promise<void> {
  const titles = new EventTasks(board);
  let title: string | null = null;
  let last: RecordedEvent | undefined;
  const types = ['task.created', 'task.edited', 'task.deleted'] as const;
  for await (const one of eventsSoFar(board, { after: brand<EventNumber>(0), task: id, types })) {
    title = (await titles.of(one.event))?.title ?? title;
    last = one;
  }
  if (last?.event.type !== 'task.deleted') return;
  const name = title === null ? id : `${id} (${shown(title)})`;
  const when = time(last.event.at).replace('T', ' ').slice(0, 19);
  throw new OperationFailed({
    code: 'not_found',
    reason: `${name} was deleted on ${when} UTC${await byWhom(board, last)}.`,
    next: [...(await workSteps(board, id)), `copse events --task ${id} # to see what happened before`],
  });
}

async function byWhom(board: Board, { by }: RecordedEvent): Promise<string> {
  switch (by.kind) {
    case 'person':
      return by.name === null ? '' : ` by ${shown(by.name)}`;
    case 'session': {
      const task = (await board.get('session', by.session))?.task;
      return task === undefined ? ' by an agent' : ` by the agent of ${task}`;
    }
    case 'node':
      return ' by Copse';
    default:
      return unreachable(by);
  }
}

/** Its worktree is still there, or was moved to the trash. */
async function workSteps(board: Board, id: TaskId): Promise<readonly string[]> {
  const last = (await board.list('workspace', { task: id })).findLast(({ worktree }) => worktree !== null);
  if (last === undefined) return [];
  return last.disposition.is === 'released'
    ? [`copse undo ${id} --worktree # to bring its worktree back, if the trash still has it`]
    : [`copse cleanup ${id} # to remove its worktree, which is still there`];
}
