/** Opens what a report needs, and finds its task: the named one, the session's own, or the one of this worktree. */

import type { ReportContext, ReportedTask } from '../../agents/act/report.ts';
import { taskFrom } from '../../board/rules/author.ts';
import type { TaskId } from '../../kernel/ids.ts';
import type { Access } from '../access.ts';
import { requireTaskId } from '../find.ts';
import { failNoTaskHere, taskOfFolder } from '../task-here.ts';

export async function withReport<T>(
  access: Access,
  task: string | undefined,
  work: (context: ReportContext, about: ReportedTask) => Promise<T>,
): Promise<T> {
  return access.workspaces(async (workspaces) => {
    const context = { ...workspaces, ...(await access.here.reporting()) };
    const here = await taskOfFolder(context.board, access.here);
    const id = await requireReported(context, access, task, here);
    return work(context, { task: id, isInside: id === here });
  });
}

async function requireReported(
  { board, by }: ReportContext,
  { env, here }: Access,
  text: string | undefined,
  inFolder: TaskId | undefined,
): Promise<TaskId> {
  if (text !== undefined) return requireTaskId(board, text);
  const own = by.kind === 'session' ? (await board.get('session', by.session))?.task : undefined;
  return own ?? inFolder ?? taskFrom(env) ?? failNoTaskHere(here.top());
}
