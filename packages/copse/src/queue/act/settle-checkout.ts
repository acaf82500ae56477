/** Before a person takes a task out of the queue. */

import type { TaskId } from '../../kernel/ids.ts';
import { isCommitted } from '../rules/landing.ts';
import { lead } from '../lead/leadership.ts';
import type { RunContext } from '../context.ts';

/**
 * A landing whose leader was killed after its journal cannot be taken out of the queue: the next leader finishes it. But the
 * checkout of the target, which it may have left locked, is put in order. A living leader does so itself.
 */
export async function settleCheckout(context: RunContext, id: TaskId): Promise<void> {
  const task = await context.board.get('task', id);
  if (task?.state.status !== 'landing') return;
  const landing = await context.board.get('landing', task.state.landing);
  if (landing === undefined || !isCommitted(landing)) return;
  await lead(context, landing.target, () => context.merging.settleTarget(landing.target));
}
