/** Branches that Copse began for tasks, by their reflogs: also those that an agent renamed. */

import type { BegunBranch } from '../ports/leftovers.ts';
import type { FoundBranch } from '../rules/sweep/things.ts';
import { isFinished } from '../../tasks/rules/task.ts';
import type { Workspace } from '../rules/workspace.ts';
import { fateOf } from '../discard/stray-branches.ts';
import type { SweepContext } from './context.ts';
import { ofTask, ownersOf } from './owners.ts';

export async function findBranches(
  context: SweepContext,
  workspaces: readonly Workspace[],
): Promise<readonly FoundBranch[]> {
  const begun = await context.leftovers.begunBranches();
  const ownerOf = await ownersOf(
    context,
    begun.map(({ task }) => task),
  );
  const found: FoundBranch[] = [];
  for (const one of begun)
    found.push(await lookAtBranch(context, { ...one, owner: ownerOf(one.task) }, workspaces));
  return found;
}

/** Whether it is merged is asked only where it may go. */
export async function lookAtBranch(
  context: SweepContext,
  one: BegunBranch & Pick<FoundBranch, 'owner'>,
  workspaces: readonly Workspace[],
): Promise<FoundBranch> {
  const { board, clock, policy, git, target } = context;
  const { branch, tip, task, owner } = one;
  const { since, isResult } = await ofTask(context, await board.get('task', task));
  const own = workspaces.filter((workspace) => workspace.task === task);
  const others = workspaces.flatMap(({ worktree, task: of }) => [
    worktree?.baseBranch,
    of === task ? undefined : worktree?.branch,
  ]);
  const isTarget = branch === (target ?? (await git.detectBase()));
  const isWanted = isTarget || others.includes(branch) || (await git.isAlias(branch));
  const hasWorktree = own.some(
    ({ worktree, disposition }) => worktree !== null && disposition.is !== 'released',
  );
  const isOld = since !== null && clock.now() - since >= policy.maintenance.finishedWorktreeAgeMs;
  const isOver = owner !== 'unknown' && owner !== 'deleted' && isFinished(owner);
  const mayGo = isOver && isOld && !isWanted && !hasWorktree;
  return {
    ...one,
    since,
    isResult,
    isOwn: own.some(({ worktree }) => worktree?.branch === branch),
    isWanted,
    hasWorktree,
    holder: (await git.holderOf(branch)) ?? null,
    state: mayGo ? await fateOf(context, task, own.at(-1), tip) : null,
  };
}
