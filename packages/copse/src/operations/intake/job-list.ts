import { type Job, loadJobs } from '../../intake/act/jobs.ts';
import type { Timestamp } from '../../kernel/ids.ts';
import type { Access } from '../access.ts';
import { jobView } from '../views/intake-views.ts';

interface Input {
  /** Not only the latest. */
  readonly all?: boolean | undefined;
}

interface ListedJobs {
  readonly jobs: readonly Job[];
  /** How many are listed without `all`. */
  readonly limit: number;
  readonly at: Timestamp;
}

export async function act(access: Access, { all = false }: Input): Promise<ListedJobs> {
  return access.board(async ({ board, clock, policy }) => {
    const now = clock.now();
    const limit = policy.schedules.listedJobs;
    return { jobs: await loadJobs(board, { now, ...(!all && { limit }) }), limit, at: now };
  });
}

export function view({ jobs }: ListedJobs) {
  return { jobs: jobs.map(jobView) };
}
