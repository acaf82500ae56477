/** The task a command is about when no id is given: the one whose worktree one is in. */

import path from 'node:path';

import { type WorkspaceContext, workspaceOf } from '../../workspaces/act/context.ts';
import { requireRepository } from '../../compose/open.ts';
import { type TaskId, parseTaskId } from '../../kernel/ids.ts';
import { shown } from '../../kernel/text.ts';
import { fail } from '../failure.ts';
import type { Cli } from '../invocation.ts';
import { requireTaskIdAmong } from '../with-workspaces.ts';

export async function requireTaskHere(
  context: WorkspaceContext,
  cli: Cli,
  word: string | undefined,
): Promise<TaskId> {
  if (word !== undefined) return requireTaskIdAmong(context, word, await tasksWithWorktrees(context));
  const { top } = requireRepository(cli);
  const gitDir = context.git.gitDirOf(top);
  // Git knows the worktree by the name that Copse gave it. A folder that was only named so has no record.
  const named = gitDir === undefined ? undefined : parseTaskId(path.basename(gitDir));
  if (named !== undefined && (await workspaceOf(context, named))) return named;
  return fail(
    'invalid',
    `Which task is meant? ${shown(top)} is not the worktree of one.`,
    'name it by its id: copse worktrees',
  );
}

/** Those that have a worktree on this node, whether the board still has the task or not. */
export async function tasksWithWorktrees({ board, node }: WorkspaceContext): Promise<readonly TaskId[]> {
  const all = await board.list('workspace');
  return all.filter((one) => one.node === node && one.disposition.is !== 'released').map(({ task }) => task);
}
