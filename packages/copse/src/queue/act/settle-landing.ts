/** Before a person takes a task out of the queue. */

import type { TaskId } from '../../kernel/ids.ts';
import { isCommitted } from '../rules/landing.ts';
import { lead } from '../lead/leadership.ts';
import { finishJournalled } from '../lead/record-landed.ts';
import type { RunContext } from '../context.ts';

/**
 * A landing whose leader was killed after its journal: the target has it, and that is recorded, or it is taken back, and may be
 * cancelled. A living leader does so itself.
 */
export async function settleLanding(context: RunContext, id: TaskId): Promise<void> {
  const task = await context.board.get('task', id);
  if (task?.state.status !== 'landing') return;
  const landing = await context.board.get('landing', task.state.landing);
  if (landing === undefined || !isCommitted(landing)) return;
  await lead(context, landing.target, () => finishJournalled(context, landing.target, [landing]));
}
