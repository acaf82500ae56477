/** Opens the board for a report, and finds its task: the named one, the session's own, or the one of this worktree. */

import path from 'node:path';

import type { ReportContext, ReportedTask } from '../../../agents/act/report.ts';
import { workspaceOf } from '../../../workspaces/act/context.ts';
import { openReportContext, requireRepository } from '../../../compose/open.ts';
import type { AccessOptions } from '../../../compose/operations/access.ts';
import { taskFrom } from '../../../board/rules/author.ts';
import { type TaskId, parseTaskId } from '../../../kernel/ids.ts';
import { shown } from '../../../kernel/text.ts';
import type { Cli } from '../../invocation.ts';
import { failNoTaskHere } from '../../../operations/task-here.ts';
import { requireTaskId } from '../../../operations/find.ts';

export async function withReporting<T>(
  cli: Cli,
  word: string | undefined,
  work: (context: ReportContext, about: ReportedTask) => Promise<T>,
): Promise<T> {
  const context = await openReportContext(cli);
  try {
    const here = await taskHere(context, cli);
    const task = await requireTask(context, cli, word, here);
    return await work(context, { task, isInside: task === here });
  } finally {
    await Promise.all([context.git.close(), context.board.close()]);
  }
}

/** Rings at a terminal; names what could not be sent. */
export function noticesTo({ output }: Cli): AccessOptions {
  return {
    ring: output.isTerminal ? () => void output.raw('\u0007') : undefined,
    onProblem: (reason) => output.note(shown(reason)),
  };
}

async function requireTask(
  { board, by }: ReportContext,
  cli: Cli,
  word: string | undefined,
  here: TaskId | undefined,
): Promise<TaskId> {
  if (word !== undefined) return requireTaskId(board, word);
  const own = by.kind === 'session' ? (await board.get('session', by.session))?.task : undefined;
  const task = own ?? here ?? taskFrom(cli.env);
  if (task !== undefined) return task;
  return failNoTaskHere(requireRepository(cli).top);
}

/** Git knows a worktree by its task's id. A folder that only has such a name has no record on the board. */
async function taskHere(context: ReportContext, cli: Cli): Promise<TaskId | undefined> {
  const gitDir = context.git.gitDirOf(requireRepository(cli).top);
  const named = gitDir === undefined ? undefined : parseTaskId(path.basename(gitDir));
  return named !== undefined && (await workspaceOf(context, named)) ? named : undefined;
}
