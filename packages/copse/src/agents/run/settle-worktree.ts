/**
 * A git that is killed leaves its locks behind, and a killed `copse sync` a worktree that is half old and half new. Whoever
 * comes next could do nothing there. Both are put right as soon as everybody who was at work in it is gone.
 */

import type { TaskId } from '../../kernel/ids.ts';
import type { WorkspaceContext } from '../../workspaces/act/context.ts';

export async function settleWorktree(
  { git, occupancy, sync }: WorkspaceContext,
  task: TaskId,
  worktree: string,
): Promise<void> {
  if ((await git.locks(worktree)).length === 0) return;
  await git.tryLock(`task-${task}`, async () => {
    const inside = await occupancy.inside(worktree, { roots: [], sessions: [] });
    // Perhaps a person's.
    if (inside.kind === 'unknown' || inside.processes.some(({ name }) => name.startsWith('git'))) return;
    await sync.settle(worktree);
  });
}
