/** A task that stopped because its repository lacked a commit or a branch: what to say once it has one. */

import type { LookContext } from '../queue/context.ts';
import type { TaskSummary } from '../tasks/rules/task.ts';
import { baseBranchOf } from '../workspaces/act/newest-base.ts';
import { noBaseBefore } from '../workspaces/rules/preparation.ts';

export async function withBaseNow<T extends TaskSummary>(
  { git, target }: Pick<LookContext, 'git' | 'target'>,
  task: T,
): Promise<T> {
  const { state } = task;
  if (state.status !== 'stuck' || !state.isByCopse || task.repository !== undefined) return task;
  const reason = noBaseBefore(state.reason);
  if (reason === null || !(await hasBase(git, target))) return task;
  return { ...task, state: { ...state, reason } };
}

async function hasBase(git: LookContext['git'], target: string | undefined): Promise<boolean> {
  const branch = await baseBranchOf(git, target, undefined);
  if (branch === undefined) return false;
  const refs = [`refs/heads/${branch}`, `refs/remotes/origin/${branch}`];
  return (await Promise.all(refs.map((ref) => git.tip(ref)))).some((tip) => tip !== undefined);
}
