/** Words of the command line that name a job. */

import type { Board } from '../../../board/port.ts';
import { findJobs } from '../../../intake/act/jobs.ts';
import { copied } from '../../../kernel/ids.ts';
import type { TaskSummary } from '../../../tasks/rules/task.ts';
import { fail } from '../../../operations/failure.ts';
import { quoted } from './with-intake.ts';

export function isJobId(text: string): boolean {
  return copied(text).toLowerCase().startsWith('jb-');
}

/** By its id or the unique beginning of it, with or without `jb-`. */
export async function requireJob(board: Board, word: string): Promise<TaskSummary> {
  const text = copied(word).toLowerCase();
  if (text === '' || text === 'jb-') return fail('invalid', 'The id of the job is empty.', 'copse jobs');
  const found = await findJobs(board, isJobId(text) ? text : `jb-${text}`);
  const [first, ...others] = found;
  if (first === undefined) return fail('not_found', `The board has no job ${quoted(word)}.`, 'copse jobs');
  if (others.length === 0) return first.task;
  const ids = found.slice(0, 5).map(({ id }) => id);
  return fail(
    'invalid',
    `${quoted(word)} matches more than one job: ${ids.join(', ')}.`,
    'give one more character of the id',
  );
}
