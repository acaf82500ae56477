import type { CommitId, TaskId } from '../../kernel/ids.ts';
import type { WorkspaceContext } from '../act/context.ts';
import { tipsOfBase } from './removal-gate.ts';
import { type Removed, removeWorkspace } from './remove.ts';

/** Removes the worktree and the branch of a task that landed. */
export async function removeLanded(context: WorkspaceContext, task: TaskId): Promise<Removed> {
  await fetchLanded(context, task);
  return removeWorkspace(context, task, { by: 'landing' });
}

/**
 * A leader that is lost after its push has the landed commit, and no branch of its machine contains it: another machine recorded
 * the landing. The gate reads branches, so the target is fetched.
 */
async function fetchLanded(context: WorkspaceContext, task: TaskId): Promise<void> {
  const { board, git } = context;
  for (const { state, target } of await board.list('landing', { task })) {
    if (state.status !== 'landed' || (await git.tip(state.commit)) === undefined) continue;
    const tips = await tipsOfBase(context, target);
    if (!(await isInOne(context, state.commit, tips))) await git.fetch([target]);
  }
}

async function isInOne(
  { git }: WorkspaceContext,
  commit: CommitId,
  tips: readonly CommitId[],
): Promise<boolean> {
  for (const tip of tips) if (tip === commit || (await git.isAncestor(commit, tip))) return true;
  return false;
}
