/** Makes room for a new worktree where an old one is: one that is unusable, or one whose work has landed. */

import type { Refused } from '../../kernel/decision.ts';
import { type BranchName, type FencingToken, type TaskId, brand } from '../../kernel/ids.ts';
import type { Task } from '../../tasks/rules/task.ts';
import { type Base, findNewestBase } from '../act/newest-base.ts';
import type { PreparationFacts } from '../rules/preparation.ts';
import type { Workspace } from '../rules/workspace.ts';
import { discard } from './discard.ts';
import { hasLanded, refuseIfAlive } from './removal-gate.ts';
import { branchRef } from './rescue-first.ts';
import { resetWorkspace } from './reset.ts';
import { type WorkspaceContext, workspaceOf } from '../act/context.ts';

/** An unusable worktree goes to the trash. */
export async function setAside(
  context: WorkspaceContext,
  task: TaskId,
  of: {
    readonly path: string;
    readonly known: Workspace | undefined;
    readonly facts: PreparationFacts;
    /** Of the attempt that asks. */
    readonly token: FencingToken | undefined;
  },
): Promise<{ readonly kind: 'free'; readonly rescue: string | null } | Refused> {
  const { path, known, token } = of;
  const { branch, worktree } = of.facts;
  const isUnfinished = worktree.state === 'broken' && worktree.isUnfinished;
  const hasFiles = worktree.state === 'healthy' || (worktree.state === 'broken' && !worktree.isUnfinished);
  const again = `copse work ${task}`;
  const discarded = await discard(context, {
    task,
    path,
    rescueReason: 'retry',
    recordedBranch: branch,
    base: null,
    reason: (rescue) => (hasFiles || rescue !== null ? 'broken' : 'leftover'),
    look: () => refuseIfAlive(context, task, path, known, { isUnfinished, again, token }),
  });
  return discarded.kind === 'refused'
    ? discarded.refusal
    : { kind: 'free', rescue: discarded.entry.record.rescue };
}

/**
 * A task that continues after it landed starts again from the target. Its old worktree may still exist, because its removal
 * was refused or killed; on that branch its commits would land a second time. So the worktree is reset, unless it is kept,
 * is in use, or has work that did not land. Notes for the person. The token is that of the attempt that asks.
 */
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
