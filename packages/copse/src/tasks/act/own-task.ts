/** A session may report only about its own task. The task of a session never changes, so it is read outside the transaction. */

import { type Refused, refused } from '../../kernel/decision.ts';
import type { Author } from '../../board/rules/event.ts';
import type { TaskId } from '../../kernel/ids.ts';
import type { Task } from '../rules/task.ts';
import type { Change, Context } from '../../board/context.ts';

export async function refuseForeignTask(
  { board, by }: Pick<Context, 'board' | 'by'>,
  id: TaskId,
): Promise<Refused | undefined> {
  if (by.kind !== 'session') return undefined;
  const session = await board.get('session', by.session);
  if (session === undefined) {
    // A claim without a session record is known by the claim alone.
    if ((await board.get('task', id))?.session === by.session) return undefined;
    return refused(
      'not_this_session',
      `The board has no session ${by.session}, so it cannot report about ${id}.`,
      'Run it in the worktree of the session.',
    );
  }
  if (session.task === id) return undefined;
  return refused(
    'not_this_session',
    `Session ${by.session} works on ${session.task} and cannot report about ${id}.`,
    'Leave out the id: the worktree tells it.',
  );
}

/** A session may add tasks while it holds its own, which is returned. */
export async function requireHolding(
  change: Change,
  by: Extract<Author, { kind: 'session' }>,
): Promise<Task> {
  const { task } = await change.require('session', by.session);
  await change.requireMine(task);
  return change.require('task', task);
}
