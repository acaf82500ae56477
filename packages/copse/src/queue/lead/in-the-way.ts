/** Which of several changes keeps the target from moving, because somebody has uncommitted changes in the same files. */

import type { BranchName, CommitId, LandingId } from '../../kernel/ids.ts';
import type { RunContext } from '../context.ts';

/** The first one by whose files a checkout is in the way. */
export async function findInTheWay(
  { merging }: Pick<RunContext, 'merging'>,
  move: { readonly target: BranchName; readonly from: CommitId },
  steps: readonly { readonly landing: LandingId; readonly commit: CommitId }[],
): Promise<LandingId | undefined> {
  for (const { landing, commit } of steps) {
    const trial = await merging.moveTarget({ ...move, to: commit, isTrial: true });
    if (!trial.moved && trial.because === 'in_the_way') return landing;
  }
  return undefined;
}
