import { isUtf8 } from 'node:buffer';

import type { Timestamp } from '../../kernel/ids.ts';
import { type TaskReview, loadReview } from '../../review/act/review.ts';
import { type Access, runOf } from '../access.ts';
import { orFail } from '../failure.ts';
import { reviewView } from '../views/review-views.ts';

interface Input {
  readonly task: string;
  /** A shell command to use as the agent, should it be sent back. */
  readonly command?: string | undefined;
}

interface ShownReview {
  readonly review: TaskReview;
  readonly at: Timestamp;
}

export async function act(access: Access, { task, command }: Input): Promise<ShownReview> {
  return runOf({ access, task, command }, async (context, id) => ({
    review: orFail(await loadReview(context, id)),
    at: context.clock.now(),
  }));
}

export function view({ review }: ShownReview) {
  const patch = review.change?.diff.patch;
  return { ...reviewView(review), patch: patch && isUtf8(patch) ? patch.toString() : null };
}
