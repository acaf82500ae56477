/** Keep refs as refs, to be dropped when they are no longer needed; rescues.ts lists the commits that only they hold. */

import type { BranchName } from '../../../kernel/ids.ts';
import type { KeptTip } from '../../../git/port.ts';
import { type TrustedDir, git } from '../../../git/process.ts';
import type { KeepRef } from '../../ports/leftovers.ts';
import { KEEP_REFS, parseTip } from './rescues.ts';

/** All of them, oldest first; also those whose commits are elsewhere too. */
export async function listKeepRefs(dir: TrustedDir, branch: BranchName): Promise<readonly KeepRef[]> {
  const merged = new Set((await keptWhere(dir, [`--merged=refs/heads/${branch}`])).map(({ ref }) => ref));
  const all = await keptWhere(dir, []);
  return all
    .toSorted((one, other) => one.at - other.at)
    .map(({ ref, commit, task }) => ({ ref, commit, task, isMerged: merged.has(ref) }));
}

async function keptWhere(dir: TrustedDir, options: readonly string[]): Promise<readonly KeptTip[]> {
  const format = '--format=%(refname)%00%(objectname)%00%(objecttype)%00';
  const output = await git(dir, ['for-each-ref', format, ...options, `${KEEP_REFS}/`]);
  return output
    .toString()
    .split('\n')
    .flatMap((line) => parseTip(line.split('\0')) ?? []);
}

/** A ref that has moved meanwhile stays, and with it all others: git changes all of them or none. */
export async function dropKeepRefs(dir: TrustedDir, refs: readonly KeepRef[]): Promise<void> {
  if (refs.length === 0) return;
  const input = refs.map(({ ref, commit }) => `delete ${ref}\0${commit}\0`).join('');
  await git(dir, ['update-ref', '-z', '--stdin'], { input });
}
