/** A queued task whose branch moved since: what the next leader does about that. */

import type { LookContext } from '../queue/context.ts';
import { seeMovedBranch } from '../queue/lead/moved-branches.ts';
import { type Landing, isCommitted } from '../queue/rules/landing.ts';
import type { MovedBranch } from '../queue/rules/moved-branch.ts';

/** Null where its branch cannot be read now. An unmoved branch costs reading one ref. */
export async function movedBranch(context: LookContext, landing: Landing): Promise<MovedBranch | null> {
  if (isCommitted(landing)) return null;
  const { git } = context;
  const tipOf = async (target: string) =>
    (await git.tip(`refs/heads/${target}`)) ?? git.tip(`refs/remotes/origin/${target}`);
  try {
    return (await seeMovedBranch(context, landing, tipOf)).moved;
  } catch {
    // A person or an agent changes it at this moment.
    return null;
  }
}

export async function movedText(context: LookContext, landing: Landing): Promise<string | null> {
  const moved = await movedBranch(context, landing);
  if (moved?.kind === 'requeued') return `${moved.reason} The newer commit lands.`;
  return moved?.kind === 'for_review' ? `It does not land as it is. ${moved.reason}` : null;
}
