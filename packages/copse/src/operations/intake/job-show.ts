import { type Job, jobOfTask } from '../../intake/act/jobs.ts';
import type { Timestamp } from '../../kernel/ids.ts';
import type { Access } from '../access.ts';
import { jobView } from '../views/intake-views.ts';
import { requireJob } from './find.ts';

interface Input {
  readonly job: string;
}

interface ShownJob {
  readonly job: Job;
  readonly at: Timestamp;
}

export async function act(access: Access, input: Input): Promise<ShownJob> {
  return access.board(async ({ board, clock }) => {
    const at = clock.now();
    const job = await jobOfTask(board, await requireJob(board, input.job), at);
    if (job === null) throw new Error('Only tasks with a job are found by one');
    return { job, at };
  });
}

export function view({ job }: ShownJob) {
  return jobView(job);
}
