/**
 * Frees what would otherwise stay for ever: removals that a kill ended between the trash and the board, ports of tasks that
 * have no workspace, scratch folders of killed processes, locks and kept refs of finished tasks, and object stores of
 * attempts that are over. Each round does a bounded part; the next goes on. What has an age goes by the plan of a sweep.
 */

import { defaultPolicy } from '../../kernel/policy.ts';
import type { TaskId } from '../../kernel/ids.ts';
import { isFinished } from '../../tasks/rules/task.ts';
import type { KeepRef, TaskLeftovers } from '../ports/leftovers.ts';
import { releasePorts } from '../act/ports-of-sessions.ts';
import { type WorkspaceContext, workspaceOf } from '../act/context.ts';
import { baseBranchOf } from '../act/newest-base.ts';
import { finishRemoval, removeWorkspace } from './remove.ts';
import { hasLanded } from './removal-gate.ts';
import { branchRef } from './rescue-first.ts';

/** Returns why some folders could not be deleted. */
export async function tidy(context: WorkspaceContext, leftovers: TaskLeftovers): Promise<readonly string[]> {
  await finishRemovals(context);
  await returnPorts(context);
  const problems = await leftovers.deleteScratch(context.clock.now());
  await dropLocks(context, leftovers);
  await dropLandedRefs(context, leftovers);
  // Last, because it writes: on a full disk, the steps above free some of it.
  await closeStores(context);
  return problems;
}

const MOST = defaultPolicy.worktreeFiles.sweptAtOnce;

/** Every removal has an entry in the trash, of which there are few; workspaces are never deleted from the board. */
export async function finishRemovals(context: WorkspaceContext): Promise<void> {
  const { board, git, trash } = context;
  const removed = (await trash.list()).filter(({ record }) => record.why === 'removal');
  const tasks = new Set(removed.map(({ record }) => record.task));
  for (const task of [...tasks].slice(0, MOST)) {
    const workspace = await workspaceOf(context, task);
    if (!workspace?.worktree) continue;
    const found = await git.look(workspace.worktree.path);
    if (found.state !== 'absent' || found.isRegistered) continue;
    const state = (await board.get('task', task))?.state;
    const hasLanded = state?.status === 'done' && state.how !== 'as_it_is';
    // A removal after a landing has a branch to delete too.
    if (hasLanded) await removeWorkspace(context, task, { by: 'landing' });
    else await finishRemoval(context, task);
  }
}

/** A workspace is recorded before its ports are taken, both under the task's lock. */
async function returnPorts(context: WorkspaceContext): Promise<void> {
  const { board, git, node } = context;
  const held = (await board.list('resource')).filter(
    ({ id, holder }) => holder !== null && id.startsWith(`port:${node}:`),
  );
  const holders = new Set(
    held.flatMap(({ holder }) => (holder?.startsWith('cp-') ? [holder as TaskId] : [])),
  );
  for (const task of [...holders].slice(0, MOST)) {
    await git.tryLock(`task-${task}`, async () => {
      const { state, repository } = (await board.get('task', task)) ?? {};
      // Of one that is worked on in another repository, this one does not see the workspace.
      if (repository != null || state?.status === 'in_progress') return;
      if ((await workspaceOf(context, task)) !== undefined) return;
      await releasePorts(context, { holder: task, node });
    });
  }
}

/**
 * Their runner or its recovery was killed. What cannot be brought is kept until the task is finished, and for a task that the
 * board does not know.
 */
async function closeStores({ board, git }: WorkspaceContext): Promise<void> {
  const stores = git.stores.list().slice(0, MOST);
  const statuses = await board.statuses([...new Set(stores.map(({ task }) => task))]);
  for (const store of stores) {
    const attempt = await board.get('attempt', store.attempt);
    if (attempt !== undefined && attempt.end === null) continue;
    const status = statuses.get(store.task);
    const isOver = status !== undefined && isFinished(status);
    // Its task is told when it is worked on again; here it must not keep others from being closed.
    await (isOver ? git.stores.drop(store) : git.stores.close(store)).catch(() => {});
  }
}

async function dropLocks(context: WorkspaceContext, leftovers: TaskLeftovers): Promise<void> {
  const tasks = leftovers.locks().slice(0, MOST);
  const isOver = await finishedAmong(context, tasks);
  for (const task of tasks) if (isOver(task)) await leftovers.deleteLock(task);
}

/**
 * A commit that the target contains needs no other ref. One that landed as another commit, by a rebase or a squash, keeps its
 * ref while its worktree can be brought back. A task that the board does not know keeps its refs.
 */
async function dropLandedRefs(context: WorkspaceContext, leftovers: TaskLeftovers): Promise<void> {
  const { board, git, target, trash } = context;
  const branch = await baseBranchOf(git, target, undefined);
  const tip = branch && (await git.tip(branchRef(branch)));
  if (branch === undefined || tip === undefined) return;
  const kept = await leftovers.kept(branch);
  const statuses = await board.statuses([...new Set(kept.map(({ task }) => task))]);
  const inTrash = new Set((await trash.all()).flatMap(({ record }) => record.branchTip ?? []));
  const over: KeepRef[] = [];
  for (const one of kept) {
    if (over.length === MOST) break;
    if (statuses.get(one.task) !== 'done') continue;
    const isOver =
      one.isMerged || (!inTrash.has(one.commit) && (await hasLanded(context, one.task, one.commit, [tip])));
    if (isOver) over.push(one);
  }
  await leftovers.dropKept(over);
}

/** Tasks that were deleted from the board are over too. */
async function finishedAmong(
  { board }: WorkspaceContext,
  tasks: readonly TaskId[],
): Promise<(task: TaskId) => boolean> {
  const statuses = await board.statuses([...new Set(tasks)]);
  return (task) => {
    const status = statuses.get(task);
    return status === undefined || isFinished(status);
  };
}
