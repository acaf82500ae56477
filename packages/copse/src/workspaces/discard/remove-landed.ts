import type { Timer } from '../../kernel/clock.ts';
import type { TaskId } from '../../kernel/ids.ts';
import type { WorkspaceContext } from '../act/context.ts';
import { type Removed, removeWorkspace } from './remove.ts';

/**
 * Removes the worktree and the branch of a task that landed. `copse worktrees` and the prompts of shells start gits in it for some
 * milliseconds: when only such are inside, it looks once more before it refuses.
 */
export async function removeLanded(
  context: WorkspaceContext & { readonly clock: Timer },
  task: TaskId,
): Promise<Removed> {
  const removed = await removeWorkspace(context, task, { by: 'landing' });
  if (removed.kind !== 'refused' || removed.mayPass !== true) return removed;
  await context.clock.sleep(context.policy.removal.gitsLeaveMs);
  return removeWorkspace(context, task, { by: 'landing' });
}
