/** The task of a command: the named one, or without an id the one whose worktree this is. */

import path from 'node:path';

import { type WorkspaceContext, workspaceOf } from '../../../workspaces/act/context.ts';
import { requireRepository } from '../../../compose/open.ts';
import { taskFrom } from '../../../board/rules/author.ts';
import { type TaskId, parseTaskId } from '../../../kernel/ids.ts';
import type { Cli } from '../../invocation.ts';
import { failNoTaskHere } from '../../../operations/task-here.ts';
import { requireTaskIdAmong } from '../../with-workspaces.ts';

export async function requireTaskHere(
  context: WorkspaceContext,
  cli: Cli,
  word: string | undefined,
): Promise<TaskId> {
  if (word !== undefined) return requireTaskIdAmong(context, word, await tasksWithWorktrees(context));
  const { top } = requireRepository(cli);
  const gitDir = context.git.gitDirOf(top);
  // Git knows a worktree by its task's id. A folder that only has such a name has no record on the board.
  const named = gitDir === undefined ? undefined : parseTaskId(path.basename(gitDir));
  if (named !== undefined && (await workspaceOf(context, named))) return named;
  // The runner runs commands of its agent outside of the worktree.
  const own = context.by.kind === 'session' ? taskFrom(cli.env) : undefined;
  if (own !== undefined) return own;
  return failNoTaskHere(requireRepository(cli).top);
}

/** Tasks with a worktree on this machine, deleted tasks included. */
export async function tasksWithWorktrees({ board, node }: WorkspaceContext): Promise<readonly TaskId[]> {
  const all = await board.list('workspace');
  return all.filter((one) => one.node === node && one.disposition.is !== 'released').map(({ task }) => task);
}
