/**
 * Removes the snapshots of tasks that are over from the remote. Work that landed is on the target. Of a task that was cancelled
 * or deleted, a snapshot may be the only copy: before its ref goes, it becomes a rescue of this machine.
 */

import type { BranchName, CommitId, TaskId } from '../../kernel/ids.ts';
import type { WorkRef } from '../../git/port.ts';
import type { TaskState } from '../../tasks/rules/task.ts';
import { bringShared, sharesWork, workRefsOf } from '../act/shared/share-work.ts';
import type { WorkspaceContext } from '../act/context.ts';

/** Why they are still there; null if they are gone. The next round of tidying tries again. */
export async function dropShared(
  context: WorkspaceContext,
  tasks: readonly TaskId[],
): Promise<string | null> {
  if (!(await sharesWork(context))) return null;
  const { board, git } = context;
  const all: WorkRef[] = [];
  const branches: RemoteBranch[] = [];
  for (const task of tasks) {
    const refs = await workRefsOf(board, task);
    const hasLanded = isOver((await board.get('task', task))?.state) === 'landed';
    const problem = hasLanded ? null : await keepAll(context, refs);
    if (problem !== null) return problem;
    all.push(...refs);
    if (hasLanded) branches.push(...(await landedBranches(context, task)));
  }
  const dropped = await git.work.drop(all, branches);
  return dropped.kind === 'failed' ? dropped.reason : null;
}

interface RemoteBranch {
  readonly branch: BranchName;
  readonly tip: CommitId;
}

/**
 * Every ref of a task that is over, also of tasks that other machines worked on. Tasks that the board does not know stay: they
 * may be those of another board.
 */
export async function tidyShared(context: WorkspaceContext): Promise<void> {
  if (!(await sharesWork(context))) return;
  const { board, git } = context;
  const listed = await git.work.list();
  if (listed.kind === 'failed') return;
  const over: WorkRef[] = [];
  for (const of of listed.refs) {
    const end = isOver((await board.get('task', of.task))?.state);
    if (end === undefined) continue;
    if (end === 'landed' || (await keepAll(context, [of])) === null) over.push(of);
  }
  const dropped = await git.work.drop(over);
  if (dropped.kind === 'failed') throw new Error(dropped.reason);
}

/** A task that is done as it is has its result on a branch of one machine; its snapshot stays. */
function isOver(state: TaskState | undefined): 'landed' | 'ended' | undefined {
  if (state?.status === 'cancelled') return 'ended';
  if (state?.status !== 'done') return undefined;
  if (state.how === 'landed' || state.how === 'pull_request') return 'landed';
  return state.how === 'no_changes' ? 'ended' : undefined;
}

/** Only snapshots that the board knows: whatever else is there, Copse did not make. */
async function keepAll(context: WorkspaceContext, refs: readonly WorkRef[]): Promise<string | null> {
  const { board, rescues } = context;
  for (const of of refs) {
    const attempts = await board.list('attempt', { task: of.task });
    const snapshot = attempts.find(({ token }) => token === of.token)?.lastSnapshot;
    if (snapshot === undefined) continue;
    const { fetchTimeoutMs: timeoutMs } = context.policy.workspace;
    const brought = await bringShared(context, of, snapshot.commit, { timeoutMs });
    if (brought.kind === 'failed') return brought.reason;
    if (brought.kind === 'here') await rescues.adopt(snapshot.commit);
  }
  return null;
}

/** Branches that were made for the task, if they are on the remote as they landed. */
async function landedBranches({ board }: WorkspaceContext, task: TaskId): Promise<readonly RemoteBranch[]> {
  const landed = (await board.list('landing', { task })).filter(({ state }) => state.status === 'landed');
  const [last] = landed.slice(-1);
  if (last === undefined) return [];
  const made = (await board.list('workspace', { task })).flatMap(({ worktree }) => worktree ?? []);
  const branches = new Set(
    made
      .filter(({ branch, baseBranch }) => branch !== baseBranch && branch !== last.target)
      .map(({ branch }) => branch),
  );
  return [...branches].map((branch) => ({ branch, tip: last.head }));
}
