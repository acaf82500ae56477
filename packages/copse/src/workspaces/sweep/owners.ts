/** What the board knows about the task that a thing belongs to. */

import type { BoardReader } from '../../board/port.ts';
import { type TaskId, timestamp } from '../../kernel/ids.ts';
import type { Task } from '../../tasks/rules/task.ts';
import type { FoundWorktree, OwnerStatus } from '../rules/sweep/things.ts';
import type { Workspace } from '../rules/workspace.ts';
import type { SweepContext } from './context.ts';

/** The status of each task; a task that is not on the board was deleted from it only if its id was once given out. */
export async function ownersOf(
  { board }: SweepContext,
  tasks: readonly TaskId[],
): Promise<(task: TaskId) => OwnerStatus> {
  const ids = [...new Set(tasks)];
  const statuses = await board.statuses(ids);
  const missing = ids.filter((id) => !statuses.has(id));
  const deleted = new Set<TaskId>();
  if (missing.length > 0)
    await board.transact(async (transaction) => {
      deleted.clear();
      for (const id of missing) if (await transaction.wasUsed(id)) deleted.add(id);
    });
  return (task) => statuses.get(task) ?? (deleted.has(task) ? 'deleted' : 'unknown');
}

type OfTask = Pick<FoundWorktree, 'since' | 'isResult' | 'isRecovered' | 'cleanupOnFailure'>;

export async function ofTask(
  context: SweepContext,
  task: Task | undefined,
  workspace?: Workspace,
): Promise<OfTask> {
  const state = task?.state;
  const isHere =
    state?.status === 'in_progress' && state.claim.node === context.node && state.claim.isByHand !== true;
  return {
    since: state === undefined ? null : timestamp(Math.max(state.since, workspace?.preparedAt ?? 0)),
    isResult: state?.status === 'done' && state.how === 'as_it_is',
    isRecovered: isHere && context.isOrchestrated,
    cleanupOnFailure:
      state?.status === 'failed' && context.cleanupOnFailure(await agentOf(context.board, task)),
  };
}

async function agentOf(board: BoardReader, task: Task | undefined) {
  const session = task?.session == null ? undefined : await board.get('session', task.session);
  return session?.agent ?? null;
}
