import { type CommitId, type TaskId, type Timestamp, brand } from '../../kernel/ids.ts';
import { shown } from '../../kernel/text.ts';
import type { RunContext } from '../../queue/context.ts';
import { type TaskReview, lastReviewed, loadReview } from '../../review/act/review.ts';
import { type Access, runOf } from '../access.ts';
import { fail, orFail } from '../failure.ts';
import { bytesToAsk, patchPage } from '../views/patch-page.ts';
import { reviewView } from '../views/review-views.ts';

interface Input {
  readonly task: string;
  /** A shell command to use as the agent, should it be sent back. */
  readonly command?: string | undefined;
  readonly maxPatchBytes?: number | undefined;
  readonly since?: string | undefined;
  readonly after?: string | undefined;
  /** Bytes of the patch that are not UTF-8 appear as U+FFFD. */
  readonly lossy?: boolean | undefined;
}

interface ShownReview {
  readonly review: TaskReview;
  readonly at: Timestamp;
  readonly maxPatchBytes: number;
  /** The bytes of the patch on earlier pages. */
  readonly skipped: number;
  readonly isLossy: boolean;
  readonly lastReviewed: CommitId | null;
}

export async function act(access: Access, { task, command, ...input }: Input): Promise<ShownReview> {
  return runOf({ access, task, command }, async (context, id) => {
    const { maxPatchBytes = context.policy.diffPage.patchBytes } = input;
    const page = input.after === undefined ? null : requireCursor(id, input.after);
    const since = input.since === undefined ? undefined : await requireCommit(context, id, input.since);
    const skipped = page?.byte ?? 0;
    const options = { maxPatchBytes: bytesToAsk(maxPatchBytes), skipPatchBytes: skipped, since };
    const review = orFail(await loadReview(context, id, options));
    const { change } = review;
    if (page !== null && (change?.from !== page.from || change?.head !== page.head))
      fail(
        'wrong_status',
        `The branch of ${id} moved since the first page of its patch was read.`,
        `copse review ${id}`,
      );
    const before = change === null ? null : await lastReviewed(context, id, change.head);
    const isLossy = input.lossy ?? false;
    return { review, at: context.clock.now(), maxPatchBytes, skipped, isLossy, lastReviewed: before };
  });
}

export function view({ review, maxPatchBytes, skipped, isLossy, lastReviewed: before }: ShownReview) {
  const { change, task } = review;
  const { text, cut, bytes } = change
    ? patchPage(change.diff.patch, maxPatchBytes, { isLossy, skipped })
    : { text: null, cut: null, bytes: 0 };
  const isNext = change && cut !== null && bytes > 0;
  const cursor = isNext ? `${change.from}:${change.head}:${skipped + bytes}` : null;
  const page = { ...reviewView(review), patch: text, cursor, lastReviewed: before };
  return cut === null ? page : { ...page, note: `Only ${cut}. To see all: copse review ${task.id}` };
}

function requireCursor(id: TaskId, text: string) {
  const [, from, head, byte] = /^([0-9a-f]{40,64}):([0-9a-f]{40,64}):(\d{1,15})$/.exec(text) ?? [];
  if (byte === undefined)
    fail(
      'invalid',
      `after must be the cursor of a page, not "${shown(text.slice(0, 60))}".`,
      `copse review ${id}`,
    );
  return { from, head, byte: Number(byte) };
}

async function requireCommit({ git }: RunContext, id: TaskId, text: string): Promise<CommitId> {
  if (!/^[0-9a-f]{40,64}$/.test(text))
    fail(
      'invalid',
      `since must be a whole commit id, not "${shown(text.slice(0, 60))}".`,
      `copse review ${id}`,
    );
  const commit = brand<CommitId>(text);
  if ((await git.tip(commit)) !== undefined) return commit;
  return fail('not_found', `This repository has no commit ${text}.`, `copse review ${id}`);
}
