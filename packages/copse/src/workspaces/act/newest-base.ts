/** The newest known commit of the branch that work begins from. */

import { type BranchName, type CommitId, brand } from '../../kernel/ids.ts';
import type { Git } from '../../git/port.ts';

export interface Base {
  readonly branch: BranchName;
  readonly commit: CommitId;
}

/** The remote's if it is ahead or there is no local branch; the local one if it has landings that are not pushed. */
export async function findNewestBase(
  git: Pick<Git, 'tip' | 'isAncestor' | 'remoteName'>,
  branch: BranchName,
): Promise<Base | undefined> {
  const remote = await git.remoteName();
  const local = await git.tip(`refs/heads/${branch}`);
  const theirs = remote === undefined ? undefined : await git.tip(`refs/remotes/${remote}/${branch}`);
  if (local === undefined || theirs === undefined) {
    const commit = local ?? theirs;
    return commit && { branch, commit };
  }
  return { branch, commit: (await git.isAncestor(theirs, local)) ? local : theirs };
}

/** The branch that copse.yml names, else the one the task began from, else the detected one. */
export async function baseBranchOf(
  git: Pick<Git, 'detectBase'>,
  target: string | undefined,
  begunFrom: BranchName | undefined,
): Promise<BranchName | undefined> {
  if (target !== undefined) return brand(target);
  // `HEAD` is recorded where no base branch was known.
  if (begunFrom !== undefined && begunFrom !== 'HEAD') return begunFrom;
  return git.detectBase();
}
