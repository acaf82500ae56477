/** `workspace.cleanup_on_failure`: the worktree of a task that failed goes through the gate at once; its branch stays. */

import type { TaskId } from '../kernel/ids.ts';
import type { RunContext } from '../queue/context.ts';
import { type Removed, removeWorkspace } from '../workspaces/discard/remove.ts';
import { cleansUpOnFailure } from './maintain.ts';

/** Undefined: the settings of its agent keep it. */
export async function removeFailed(context: RunContext, id: TaskId): Promise<Removed | undefined> {
  const task = await context.board.get('task', id);
  const session = task?.session == null ? undefined : await context.board.get('session', task.session);
  if (!cleansUpOnFailure(context, session?.agent ?? null)) return undefined;
  return removeWorkspace(context, id, { by: 'sweep', pruneUnmergedBranches: false, cleanupOnFailure: true });
}
