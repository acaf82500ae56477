/** Keep refs as refs, to be dropped when they are no longer needed; rescues.ts lists the commits that only they hold. */

import type { BranchName } from '../../../kernel/ids.ts';
import { type TrustedDir, git } from '../../../git/process.ts';
import type { KeepRef } from '../../ports/leftovers.ts';
import { KEEP_REFS, allKeptTips } from './rescues.ts';

/** All of them, oldest first; also those whose commits are elsewhere too. */
export async function listKeepRefs(dir: TrustedDir, branch: BranchName): Promise<readonly KeepRef[]> {
  const argv = ['for-each-ref', '--format=%(refname)', `--merged=refs/heads/${branch}`, `${KEEP_REFS}/`];
  const merged = new Set((await git(dir, argv)).toString().split('\n'));
  const all = await allKeptTips(dir);
  return all
    .toSorted((one, other) => one.at - other.at)
    .map(({ ref, commit, task }) => ({ ref, commit, task, isMerged: merged.has(ref) }));
}

/** A ref that has moved meanwhile stays, and with it all others: git changes all of them or none. */
export async function dropKeepRefs(dir: TrustedDir, refs: readonly KeepRef[]): Promise<void> {
  if (refs.length === 0) return;
  const input = refs.map(({ ref, commit }) => `delete ${ref}\0${commit}\0`).join('');
  await git(dir, ['update-ref', '-z', '--stdin'], { input });
}
