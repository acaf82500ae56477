/**
 * A task that stopped for a reason which a person has removed since: what to say now. The board keeps the reason as it was
 * when the task stopped, so every command that shows it asks here first.
 */

import type { BranchName, CommitId } from '../kernel/ids.ts';
import type { LookContext } from '../queue/context.ts';
import { targetOf } from '../queue/act/landing-target.ts';
import type { TaskSummary } from '../tasks/rules/task.ts';
import { workspaceOf } from '../workspaces/act/context.ts';
import { baseBranchOf } from '../workspaces/act/newest-base.ts';
import { noBaseBefore } from '../workspaces/rules/preparation.ts';

type NowContext = Pick<LookContext, 'agents' | 'board' | 'git' | 'node' | 'target'>;

/** Whether `withStateNow` looks at more than the board. */
export function mayHaveChanged({ state, repository }: TaskSummary): boolean {
  if (repository !== undefined) return false;
  if (state.status === 'stuck') return state.lacks !== undefined;
  return state.status === 'needs_attention' && state.because === 'conflict';
}

export async function withStateNow<T extends TaskSummary>(context: NowContext, task: T): Promise<T> {
  if (!mayHaveChanged(task)) return task;
  const { id, state } = task;
  if (state.status === 'stuck' && state.lacks !== undefined && (await hasBase(context)))
    return { ...task, state: { ...state, reason: noBaseBefore(id, state.lacks) } };
  const target = await resolvedOn(context, task);
  if (target === null || state.status !== 'needs_attention') return task;
  return {
    ...task,
    state: { ...state, reason: `It no longer conflicts: its branch contains ${target} now.` },
  };
}

/** Whether worktrees can start: the target, or any branch, has a commit. */
export async function hasBase({ git, target }: Pick<NowContext, 'git' | 'target'>): Promise<boolean> {
  const branch = await baseBranchOf(git, target, undefined);
  return branch !== undefined && (await tipOf(git, branch)) !== undefined;
}

/** The target that conflicted with its branch, once its worktree has merged that; null while it has not. */
export async function resolvedOn(context: NowContext, task: TaskSummary): Promise<BranchName | null> {
  const { board, git, agents } = context;
  if (task.state.status !== 'needs_attention' || task.state.because !== 'conflict') return null;
  const worktree = (await workspaceOf(context, task.id))?.worktree;
  const facts = worktree == null ? undefined : await git.look(worktree.path);
  if (worktree == null || facts?.state !== 'healthy' || facts.operation !== null) return null;
  // A merge that reverts other work conflicts too, although it contains the target.
  const refused = (await board.list('landing', { task: task.id })).at(-1)?.head;
  if (refused === facts.head) return null;
  const session = task.session === null ? undefined : await board.get('session', task.session);
  const agent = agents.find(({ name }) => name === session?.agent);
  const target = await targetOf(context, worktree.baseBranch, agent);
  const tip = target === undefined ? undefined : await tipOf(git, target);
  return target !== undefined && tip !== undefined && (await git.isAncestor(tip, facts.head)) ? target : null;
}

async function tipOf(git: NowContext['git'], branch: BranchName): Promise<CommitId | undefined> {
  return (await git.tip(`refs/heads/${branch}`)) ?? git.tip(`refs/remotes/origin/${branch}`);
}
