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
  return state.status === 'needs_attention' && (state.because === 'conflict' || state.because === 'dirty');
}

export async function withStateNow<T extends TaskSummary>(context: NowContext, task: T): Promise<T> {
  if (!mayHaveChanged(task)) return task;
  const { id, state } = task;
  if (state.status === 'stuck' && state.lacks !== undefined && (await hasBase(context)))
    return { ...task, state: { ...state, reason: noBaseBefore(id, state.lacks) } };
  if (await isWorktreeRescued(context, task)) return withRescue(task);
  const now = await conflictNow(context, task);
  if (now === null || state.status !== 'needs_attention') return task;
  const reason =
    now.kind === 'resolved'
      ? `It no longer conflicts: its branch contains ${now.target} now.`
      : `It conflicted at ${now.from.slice(0, 10)}, and its branch changed since.`;
  return { ...task, state: { ...state, reason } };
}

/** Whether a person removed the worktree of a task that stopped with uncommitted files. */
export async function isWorktreeRescued(
  { board, node }: Pick<NowContext, 'board' | 'node'>,
  { id, state }: TaskSummary,
): Promise<boolean> {
  if (state.status !== 'needs_attention' || state.because !== 'dirty') return false;
  const workspaces = await board.list('workspace', { task: id });
  const last = workspaces.findLast((one) => one.node === node)?.disposition;
  return last?.is === 'released' && last.rescue !== null && last.at >= state.since;
}

const UNCOMMITTED = /^\d+ uncommitted files?:/;

function withRescue<T extends TaskSummary>(task: T): T {
  const { state } = task;
  if (state.status !== 'needs_attention' || !UNCOMMITTED.test(state.reason)) return task;
  const files = state.reason.split('\n').filter((line) => !line.startsWith('Commit what belongs'));
  const reason = `Its worktree was removed. Copse rescued ${files.join('\n')}`;
  return { ...task, state: { ...state, reason } };
}

/** Whether worktrees can start: the target, or any branch, has a commit. */
export async function hasBase({ git, target }: Pick<NowContext, 'git' | 'target'>): Promise<boolean> {
  const branch = await baseBranchOf(git, target, undefined);
  return branch !== undefined && (await tipOf(git, branch)) !== undefined;
}

/** `changed`: it has other commits than those that conflicted, and the target may have moved on. */
type ConflictNow =
  | { readonly kind: 'resolved'; readonly target: BranchName }
  | { readonly kind: 'changed'; readonly from: CommitId };

/** Null while its worktree has the commits that conflicted. */
export async function conflictNow(context: NowContext, task: TaskSummary): Promise<ConflictNow | null> {
  const { board, git, agents } = context;
  if (task.state.status !== 'needs_attention' || task.state.because !== 'conflict') return null;
  const worktree = (await workspaceOf(context, task.id))?.worktree;
  const facts = worktree == null ? undefined : await git.look(worktree.path);
  if (worktree == null || facts?.state !== 'healthy' || facts.operation !== null) return null;
  // A merge that reverts other work conflicts too, although it contains the target.
  const refused = (await board.list('landing', { task: task.id })).at(-1);
  if (refused?.head === facts.head) return null;
  const session = task.session === null ? undefined : await board.get('session', task.session);
  const agent = agents.find(({ name }) => name === session?.agent);
  const target = await targetOf(context, worktree.baseBranch, agent);
  const tip = target === undefined ? undefined : await tipOf(git, target);
  if (target !== undefined && tip !== undefined && (await git.isAncestor(tip, facts.head)))
    return { kind: 'resolved', target };
  // An attempt may have conflicted later, before it was queued.
  return refused?.state.since === task.state.since ? { kind: 'changed', from: refused.head } : null;
}

async function tipOf(git: NowContext['git'], branch: BranchName): Promise<CommitId | undefined> {
  return (await git.tip(`refs/heads/${branch}`)) ?? git.tip(`refs/remotes/origin/${branch}`);
}
