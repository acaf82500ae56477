/**
 * Reporting from inside a sandbox, where the board is out of reach. What is said goes into `.copse/session.json`, which the
 * runner reads; so nobody here can say yet what the gate will say to it.
 */

import { reportFolderInside, writeReportInside } from '../../compose/report-inside.ts';
import { taskFrom } from '../../board/rules/author.ts';
import { type TaskId, resolvePrefix } from '../../kernel/ids.ts';
import { shown } from '../../kernel/text.ts';
import type { Report } from '../../agents/rules/session/report.ts';
import { fail } from '../failure.ts';
import type { Cli } from '../invocation.ts';

/** The task of whoever speaks from inside a sandbox; undefined outside of one. */
export function taskInside({ env }: Cli, word?: string): TaskId | undefined {
  if (reportFolderInside(env) === undefined) return undefined;
  const own = taskFrom(env);
  if (own === undefined) return undefined;
  if (word === undefined || 'found' in resolvePrefix(word, [own])) return own;
  return fail(
    'not_this_session',
    `From inside its sandbox an agent reports about its own task, ${own}, and not about ${shown(word)}.`,
    `copse finish ${own}`,
  );
}

/** The task it is about, or undefined outside of a sandbox, where nothing was written. */
export function reportFromInside(cli: Cli, word: string | undefined, report: Report): TaskId | undefined {
  const task = taskInside(cli, word);
  const folder = reportFolderInside(cli.env);
  if (task !== undefined && folder !== undefined) writeReportInside(folder, report);
  return task;
}
