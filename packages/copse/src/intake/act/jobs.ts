/** Jobs: the runs of schedules and triggers, as their tasks, sessions and attempts tell them. There is no other record of them. */

import type { Board } from '../../board/port.ts';
import type { JobId, Timestamp } from '../../kernel/ids.ts';
import { type Usage, addUsage, isNothing, noUsage } from '../../kernel/usage.ts';
import { type TaskOrigin, type TaskSummary, jobOf } from '../../tasks/rules/task.ts';
import { type JobResult, jobError, jobResult } from '../rules/job.ts';

export interface Job {
  readonly id: JobId;
  readonly task: TaskSummary;
  readonly origin: Exclude<TaskOrigin, { kind: 'item' }>;
  readonly result: JobResult;
  readonly attempts: number;
  readonly startedAt: Timestamp | null;
  readonly endedAt: Timestamp | null;
  /** The time in which an agent worked on it. */
  readonly workedMs: number;
  readonly summary: string | null;
  readonly error: string | null;
  /** Null: no agent reported any. */
  readonly usage: Usage | null;
}

/** The newest first. */
export async function loadJobs(
  board: Pick<Board, 'tasks' | 'list'>,
  { limit, now }: { readonly limit?: number; readonly now: Timestamp },
): Promise<readonly Job[]> {
  const tasks = await board.tasks({ job: 'any', order: 'recent', ...(limit !== undefined && { limit }) });
  return jobsOfTasks(board, tasks.toSorted(newestFirst), now);
}

/** By when it was created, which never changes: jobs that come meanwhile neither repeat nor hide another one. */
export type JobPlace = Pick<TaskSummary, 'createdAt' | 'id'>;

interface JobPage {
  readonly jobs: readonly Job[];
  readonly hasMore: boolean;
}

/** The newest first, after that place. */
export async function loadJobPage(
  board: Pick<Board, 'tasks' | 'list'>,
  {
    limit,
    after,
    now,
  }: { readonly limit: number; readonly after?: JobPlace | undefined; readonly now: Timestamp },
): Promise<JobPage> {
  const all = await board.tasks({ job: 'any', order: 'recent' });
  const following = all
    .filter((task) => after === undefined || newestFirst(after, task) < 0)
    .toSorted(newestFirst);
  const jobs = await jobsOfTasks(board, following.slice(0, limit), now);
  return { jobs, hasMore: following.length > limit };
}

function newestFirst(one: JobPlace, other: JobPlace): number {
  return other.createdAt - one.createdAt || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);
}

async function jobsOfTasks(
  board: Pick<Board, 'list'>,
  tasks: readonly TaskSummary[],
  now: Timestamp,
): Promise<readonly Job[]> {
  const jobs: Job[] = [];
  for (const task of tasks) {
    const job = await jobOfTask(board, task, now);
    if (job !== null) jobs.push(job);
  }
  return jobs;
}

/** Those whose id begins so; a whole id finds its own. */
export async function findJobs(
  board: Pick<Board, 'tasks'>,
  beginning: string,
): Promise<readonly { readonly id: JobId; readonly task: TaskSummary }[]> {
  const all = await board.tasks({ job: 'any', order: 'recent' });
  return all.flatMap((task) => {
    const id = jobOf(task.origin);
    return id !== null && id.startsWith(beginning) ? [{ id, task }] : [];
  });
}

export async function jobOfTask(
  board: Pick<Board, 'list'>,
  task: TaskSummary,
  now: Timestamp,
): Promise<Job | null> {
  const { origin } = task;
  if (origin === undefined || origin.kind === 'item') return null;
  const attempts = await board.list('attempt', { task: task.id });
  const sessions = await board.list('session', { task: task.id });
  const usage = sessions.map((one) => one.usage).reduce(addUsage, noUsage);
  const result = jobResult(task.state);
  const isOver = result !== 'waiting' && result !== 'running' && result !== 'landing';
  const summary = sessions.findLast(({ finish }) => finish?.summary !== undefined)?.finish?.summary;
  return {
    id: origin.job,
    task,
    origin,
    result,
    attempts: attempts.length,
    startedAt: attempts[0]?.startedAt ?? null,
    endedAt: isOver ? task.state.since : null,
    workedMs: attempts.reduce(
      (sum, { startedAt, end }) => sum + Math.max(0, (end?.at ?? now) - startedAt),
      0,
    ),
    summary: summary ?? null,
    error: jobError(task.state),
    usage: isNothing(usage) ? null : usage,
  };
}
