import { type Job, type JobPlace, loadJobPage, loadJobs } from '../../intake/act/jobs.ts';
import { type TaskId, type Timestamp, brand, timestamp } from '../../kernel/ids.ts';
import type { Access } from '../access.ts';
import { fail } from '../failure.ts';
import { jobView } from '../views/intake-views.ts';

interface Input {
  /** Not only the latest. */
  readonly all?: boolean | undefined;
  /** In pages of so many. */
  readonly limit?: number | undefined;
  /** Only the jobs after those of the page that gave it. */
  readonly cursor?: string | undefined;
}

interface ListedJobs {
  readonly jobs: readonly Job[];
  /** For the next page; null when this is the last one, or the list has no pages. */
  readonly cursor: string | null;
  /** How many are listed without `all`. */
  readonly limit: number;
  readonly at: Timestamp;
}

export async function act(access: Access, { all = false, ...page }: Input): Promise<ListedJobs> {
  return access.board(async ({ board, clock, policy }) => {
    const now = clock.now();
    const limit = policy.schedules.listedJobs;
    if (page.limit === undefined && page.cursor === undefined) {
      const jobs = await loadJobs(board, { now, ...(!all && { limit }) });
      return { jobs, cursor: null, limit, at: now };
    }
    const after = page.cursor === undefined ? undefined : requireCursor(page.cursor);
    const { jobs, hasMore } = await loadJobPage(board, { now, limit: page.limit ?? limit, after });
    const last = jobs.at(-1)?.task;
    return { jobs, cursor: hasMore && last ? `${last.createdAt}:${last.id}` : null, limit, at: now };
  });
}

function requireCursor(text: string): JobPlace {
  const [, createdAt, id] = /^(\d{1,15}):(\S{1,200})$/.exec(text) ?? [];
  if (createdAt === undefined || id === undefined)
    return fail('invalid', 'The cursor is not one of this list.', 'copse jobs --json');
  return { createdAt: timestamp(Number(createdAt)), id: brand<TaskId>(id) };
}

export function view({ jobs, cursor }: ListedJobs) {
  return { jobs: jobs.map(jobView), cursor };
}
