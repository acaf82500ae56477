import type { TaskId } from '../../kernel/ids.ts';
import type { WorkspaceContext } from '../../workspaces/act/context.ts';
import { type Undone, undo } from '../../workspaces/discard/undo.ts';
import type { Access } from '../access.ts';
import { orFail } from '../failure.ts';
import { ignoredView } from '../views/workspace-views.ts';
import { refuseElsewhere, requireTaskIdAmong } from './task-of-worktree.ts';

interface Input {
  /** Without it: the latest removal or reset. */
  readonly task?: string | undefined;
}

export async function act(access: Access, input: Input): Promise<Undone> {
  return access.workspaces(async (context) =>
    orFail(await undo(context, await requireRemoved(context, input.task))),
  );
}

export function view({ task, path, branch, what, inTheWay, ignored, notes }: Undone) {
  return { task, worktree: path, branch, undone: what, inTheWay, ignored: ignoredView(ignored), notes };
}

/** A task of the board, or one whose worktree is in the trash. */
export async function requireRemoved(
  context: WorkspaceContext,
  text: string | undefined,
): Promise<TaskId | undefined> {
  if (text === undefined) return undefined;
  const inTrash = (await context.trash.list()).map(({ record }) => record.task);
  const id = await requireTaskIdAmong(context, text, inTrash);
  await refuseElsewhere(context, id);
  return id;
}
