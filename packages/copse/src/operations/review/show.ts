import type { Timestamp } from '../../kernel/ids.ts';
import { type TaskReview, loadReview } from '../../review/act/review.ts';
import { type Access, runOf } from '../access.ts';
import { orFail } from '../failure.ts';
import { bytesToAsk, patchPage } from '../views/patch-page.ts';
import { reviewView } from '../views/review-views.ts';

interface Input {
  readonly task: string;
  /** A shell command to use as the agent, should it be sent back. */
  readonly command?: string | undefined;
  readonly maxPatchBytes?: number | undefined;
}

interface ShownReview {
  readonly review: TaskReview;
  readonly at: Timestamp;
  readonly maxPatchBytes: number;
}

export async function act(access: Access, { task, command, ...input }: Input): Promise<ShownReview> {
  return runOf({ access, task, command }, async (context, id) => {
    const { maxPatchBytes = context.policy.diffPage.patchBytes } = input;
    const options = { maxPatchBytes: bytesToAsk(maxPatchBytes) };
    return { review: orFail(await loadReview(context, id, options)), at: context.clock.now(), maxPatchBytes };
  });
}

export function view({ review, maxPatchBytes }: ShownReview) {
  const patch = review.change?.diff.patch;
  const { text, cut } = patch ? patchPage(patch, maxPatchBytes) : { text: null, cut: null };
  const shown = { ...reviewView(review), patch: text };
  return cut === null ? shown : { ...shown, note: `Only ${cut}. To see all: copse review ${review.task.id}` };
}
