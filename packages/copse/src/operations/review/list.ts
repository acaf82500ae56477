import type { Timestamp } from '../../kernel/ids.ts';
import { type TaskReview, listReviews } from '../../review/act/review.ts';
import type { Access } from '../access.ts';
import { reviewView } from '../views/review-views.ts';

interface ListedReviews {
  readonly reviews: readonly TaskReview[];
  readonly at: Timestamp;
}

export async function act(access: Access): Promise<ListedReviews> {
  return access.run(async (context) => ({
    reviews: await listReviews(context),
    at: context.clock.now(),
  }));
}

export function view({ reviews }: ListedReviews) {
  return { reviews: reviews.map((review) => reviewView(review)) };
}
