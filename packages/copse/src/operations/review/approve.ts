import type { CommitId } from '../../kernel/ids.ts';
import type { Landing } from '../../queue/rules/landing.ts';
import { refuseOtherHead } from '../../queue/rules/named-head.ts';
import { approve, loadReview } from '../../review/act/review.ts';
import type { Task } from '../../tasks/rules/task.ts';
import { type Access, runOf } from '../access.ts';
import { orFail } from '../failure.ts';
import { approvedView } from '../views/review-views.ts';

interface Input {
  readonly task: string;
  /** Approve only if the branch is still at this commit. */
  readonly head?: string | undefined;
  /** The commit that a person was shown just now; null: its commits are not in this repository. */
  readonly reviewed?: CommitId | null | undefined;
  /** A shell command to use as the agent. */
  readonly command?: string | undefined;
}

interface Approved {
  readonly landing: Landing;
  readonly wasQueued: boolean;
  /** Undefined when it was deleted meanwhile. */
  readonly task: Task | undefined;
}

export async function act(access: Access, { task, head, reviewed, command }: Input): Promise<Approved> {
  return runOf({ access, task, command }, async (context, id) => {
    const now =
      reviewed === undefined
        ? (orFail(await loadReview(context, id, { withoutPatch: true })).change?.head ?? null)
        : reviewed;
    const refusal = refuseOtherHead(id, head, now);
    if (refusal !== undefined) orFail(refusal);
    const approved = orFail(await approve(context, id, now));
    return { ...approved, task: await context.board.get('task', id) };
  });
}

export function view({ landing }: Approved) {
  return approvedView(landing.task, landing);
}
