import { type DeletedTask, deleteWithWorkspaces } from '../../agents/act/delete-tasks.ts';
import { contextToStop } from '../../queue/context.ts';
import { type RemovedOne, withIgnored } from '../../workspaces/discard/cleanup.ts';
import { type Access, contextOfAll } from '../access.ts';
import { orFail } from '../failure.ts';
import { requireTaskIds } from '../find.ts';
import { taskView } from '../views/views.ts';
import { removedView } from '../views/workspace-views.ts';

interface Input {
  /** All of them are deleted, or none. */
  readonly tasks: readonly string[];
  readonly unlink?: boolean | undefined;
  readonly keepWorktree?: boolean | undefined;
}

export type DeletedOne = Omit<DeletedTask, 'removed'> & { readonly removed: RemovedOne | null };

export async function act(access: Access, input: Input): Promise<readonly DeletedOne[]> {
  return access.run(async (run) => {
    const ids = [...new Set(await requireTaskIds(run.board, input.tasks))];
    const context = await contextOfAll(run, ids, contextToStop);
    const { unlink = false, keepWorktree = false } = input;
    const deleted = orFail(await deleteWithWorkspaces(context, ids, { unlink, keepWorktree }));
    const results: DeletedOne[] = [];
    for (const one of deleted)
      results.push({ ...one, removed: one.removed && (await withIgnored(context, one.removed)) });
    return results;
  });
}

export function view(deleted: readonly DeletedOne[]) {
  return {
    deleted: deleted.map(({ task, agent, remaining, removed }) => ({
      ...taskView(task),
      agentEnd: agent,
      remaining,
      removed: removed && removedView(removed),
    })),
  };
}
