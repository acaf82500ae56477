/**
 * A task that continues after it landed starts again from the target. Its old worktree may still exist, because its removal
 * was refused or killed; on that branch its commits would land a second time. So the worktree is reset, unless it is kept,
 * is in use, or has work that did not land.
 */

import { type BranchName, type FencingToken, brand } from '../../kernel/ids.ts';
import type { Task } from '../../tasks/rules/task.ts';
import { type Base, findNewestBase } from '../act/newest-base.ts';
import { hasLanded } from './removal-gate.ts';
import { branchRef } from './rescue-first.ts';
import { resetWorkspace } from './reset.ts';
import { type WorkspaceContext, workspaceOf } from '../act/context.ts';

/** Notes for the person. The token is that of the attempt that asks. */
export async function leaveWhatLanded(
  context: WorkspaceContext,
  task: Task,
  token: FencingToken | undefined,
): Promise<readonly string[]> {
  const { board, git } = context;
  const landings = await board.list('landing', { task: task.id });
  if (landings.every(({ state }) => state.status !== 'landed')) return [];
  const known = await workspaceOf(context, task.id);
  if (!known?.worktree || known.disposition.is !== 'in_use') return [];
  const { path, branch } = known.worktree;
  const tip = await git.tip(branchRef(branch));
  const base = await newestBase(context);
  if (tip === undefined || base === undefined || tip === base.commit) return [];
  if (!(await hasLanded(context, task.id, tip, [base.commit]))) return [];
  const worktree = await git.look(path);
  if (worktree.state === 'healthy') {
    const { changed, untracked, isIndexLost } = await git.uncommitted(path);
    const isAsItLanded = worktree.branch === branch && worktree.head === tip && worktree.operation === null;
    if (!isAsItLanded || isIndexLost || changed.length + untracked.length > 0) return [];
  }
  const reset = await resetWorkspace(context, task, token);
  return reset.kind === 'done'
    ? [`Its earlier work has landed, so it starts again from ${base.branch}.`]
    : [];
}

async function newestBase({ git, target }: WorkspaceContext): Promise<Base | undefined> {
  const branch = target === undefined ? await git.detectBase() : brand<BranchName>(target);
  return branch && findNewestBase(git, branch);
}
