/** The newest commit that is known of the branch that work begins from. */

import { type BranchName, type CommitId, brand } from '../../kernel/ids.ts';
import type { Git } from '../../git/port.ts';

export interface Base {
  readonly branch: BranchName;
  readonly commit: CommitId;
}

/** The remote's when it is ahead of ours or there is none here; ours when somebody landed here and has not pushed. */
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

/** The one that copse.yml names, or the task began from, or that is found. */
export async function baseBranchOf(
  git: Pick<Git, 'detectBase'>,
  target: string | undefined,
  begunFrom: BranchName | undefined,
): Promise<BranchName | undefined> {
  if (target !== undefined) return brand(target);
  // A branch that began where nothing else was known has `HEAD` noted.
  if (begunFrom !== undefined && begunFrom !== 'HEAD') return begunFrom;
  return git.detectBase();
}
