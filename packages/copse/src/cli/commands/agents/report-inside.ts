/**
 * Reports from inside a sandbox, where the board is out of reach. A report goes into `.copse/session.json`, which the
 * runner reads later, so the command cannot say yet whether the work is accepted.
 */

import { reportFolderInside, writeReportInside } from '../../../compose/inside-attempt.ts';
import { taskFrom } from '../../../board/rules/author.ts';
import { type TaskId, resolvePrefix } from '../../../kernel/ids.ts';
import { shown } from '../../../kernel/text.ts';
import type { Report } from '../../../agents/rules/session/report.ts';
import { fail } from '../../failure.ts';
import type { Cli } from '../../invocation.ts';

/** The task of this sandbox; undefined outside of one. */
export function taskInside({ env }: Cli, word?: string): TaskId | undefined {
  if (reportFolderInside(env) === undefined) return undefined;
  const own = taskFrom(env);
  if (own === undefined) return undefined;
  if (word === undefined || resolvePrefix(word, [own]).kind === 'found') return own;
  return fail(
    'not_this_session',
    `Inside its sandbox an agent can report only about its own task ${own}, not about ${shown(word)}.`,
    `copse finish ${own}`,
  );
}

/** Writes the report and returns its task; undefined outside of a sandbox, where nothing is written. */
export function reportFromInside(cli: Cli, word: string | undefined, report: Report): TaskId | undefined {
  const task = taskInside(cli, word);
  const folder = reportFolderInside(cli.env);
  if (task !== undefined && folder !== undefined) writeReportInside(folder, report);
  return task;
}
