/** A session speaks for its own task and for no other. Which one that is never changes, so asking once is enough. */

import { type Refused, refused } from '../../kernel/decision.ts';
import type { Author } from '../../board/rules/event.ts';
import type { TaskId } from '../../kernel/ids.ts';
import type { Change, Context } from '../../board/context.ts';

export async function refuseForeignTask(
  { board, by }: Pick<Context, 'board' | 'by'>,
  id: TaskId,
): Promise<Refused | undefined> {
  if (by.kind !== 'session') return undefined;
  const session = await board.get('session', by.session);
  if (session === undefined) {
    // Whoever claims without opening a session is known by the claim alone.
    if ((await board.get('task', id))?.session === by.session) return undefined;
    return refused(
      'not_this_session',
      `There is no session ${by.session} on this board, so it cannot speak for ${id}.`,
      'run it in the worktree that the session was given',
    );
  }
  if (session.task === id) return undefined;
  return refused(
    'not_this_session',
    `Session ${by.session} works on ${session.task} and cannot speak for ${id}.`,
    'leave the id out: it is taken from the worktree',
  );
}

/** For what belongs to no task yet: a session may add it while it holds its own. */
export async function requireHolding(change: Change, by: Author): Promise<void> {
  if (by.kind !== 'session') return;
  const { task } = await change.require('session', by.session);
  await change.requireMine(task);
}
