/** The branch that a task lands on, and the commit it points to. */

import type { BranchName, CommitId } from '../../kernel/ids.ts';
import type { EffectiveAgent } from '../../config/effective.ts';
import { baseBranchOf } from '../../workspaces/act/newest-base.ts';
import type { LookContext, RunContext } from '../context.ts';

/** The branch that a task's work lands on. */
export async function targetOf(
  { git, target }: Pick<LookContext, 'git' | 'target'>,
  begunFrom: BranchName | undefined,
  agent?: EffectiveAgent,
): Promise<BranchName | undefined> {
  return baseBranchOf(git, agent?.landing.target ?? target, begunFrom);
}

/** Whether the target has the commit: here, or, where landings are pushed, on the remote as of the last fetch. */
export async function isOnTarget(
  { git, landing }: RunContext,
  target: BranchName,
  commit: CommitId,
): Promise<boolean> {
  const remote = landing.push ? await git.remoteName() : undefined;
  const refs = [
    `refs/heads/${target}`,
    ...(remote === undefined ? [] : [`refs/remotes/${remote}/${target}`]),
  ];
  for (const ref of refs) {
    const tip = await git.tip(ref);
    if (tip !== undefined && (await git.isAncestor(commit, tip))) return true;
  }
  return false;
}

/** The local branch, or the remote-tracking one if there is no local branch. */
export async function tipOfTarget({ git }: RunContext, target: BranchName): Promise<CommitId> {
  const remote = await git.remoteName();
  const tip =
    (await git.tip(`refs/heads/${target}`)) ??
    (remote === undefined ? undefined : await git.tip(`refs/remotes/${remote}/${target}`));
  if (tip === undefined) throw new Error(`There is no branch ${target} to land on`);
  return tip;
}
