/**
 * Removes the snapshots of tasks that are over from the remote. Work that landed is on the target. Of a task that was cancelled
 * or deleted, a snapshot may be the only copy: before its ref goes, it becomes a rescue of this machine.
 */

import type { BranchName, CommitId, TaskId } from '../../kernel/ids.ts';
import type { ListedWork, RemoteFailure, WorkRef } from '../../git/port.ts';
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
  const all: ListedWork[] = [];
  const branches: RemoteBranch[] = [];
  for (const task of tasks) {
    const refs = await workRefsOf(board, task);
    const ends = await Promise.all(refs.map((one) => endOf(context, one)));
    const others = refs.filter((_, at) => ends[at] !== 'landed');
    all.push(...refs.filter((_, at) => ends[at] === 'landed'));
    if (isOver((await board.get('task', task))?.state) === 'landed')
      branches.push(...(await landedBranches(context, task)));
    const there = await listedOf(context, others);
    if ('reason' in there) return there.reason;
    for (const one of there.refs) {
      const kept = await keep(context, one);
      if ('reason' in kept) return kept.reason;
      if (kept.isKept) all.push(one);
    }
  }
  const dropped = await git.work.drop(all, branches);
  return dropped.kind === 'failed' ? dropped.reason : null;
}

/** Those that are on the remote, with the commits they have there. */
async function listedOf(
  { git }: WorkspaceContext,
  refs: readonly WorkRef[],
): Promise<{ readonly refs: readonly RemoteWork[] } | RemoteFailure> {
  if (refs.length === 0) return { refs: [] };
  const listed = await git.work.list();
  if (listed.kind === 'failed') return listed;
  const isAsked = (one: WorkRef) => refs.some(({ task, token }) => task === one.task && token === one.token);
  return { refs: listed.refs.filter(isAsked) };
}

type RemoteWork = WorkRef & { readonly commit: CommitId };

interface RemoteBranch {
  readonly branch: BranchName;
  readonly tip: CommitId;
}

/**
 * Every ref of a task that is over, also of tasks that other machines worked on. Tasks that the board does not know stay: they
 * may be those of another board.
 */
export async function tidyShared(context: WorkspaceContext): Promise<void> {
  const over = (await listShared(context)).filter(({ end }) => end !== null);
  const problem = await dropListed(context, over);
  if (problem !== null) throw new Error(problem);
}

export interface SharedSnapshot extends RemoteWork {
  readonly end: 'landed' | 'ended' | null;
}

/** All snapshots on the remote, and whether their task is over; none when the remote cannot be reached. */
export async function listShared(context: WorkspaceContext): Promise<readonly SharedSnapshot[]> {
  if (!(await sharesWork(context))) return [];
  const listed = await context.git.work.list();
  if (listed.kind === 'failed') return [];
  const found: SharedSnapshot[] = [];
  for (const one of listed.refs) found.push({ ...one, end: await endOf(context, one) });
  return found;
}

/** Why the remote kept them. One whose content cannot be kept here stays for the next time. */
export async function dropListed(
  context: WorkspaceContext,
  listed: readonly SharedSnapshot[],
): Promise<string | null> {
  const over: ListedWork[] = [];
  for (const { end, ...one } of listed) {
    const kept = end === 'ended' ? await keep(context, one) : { isKept: end === 'landed' };
    if ('isKept' in kept && kept.isKept) over.push(one);
  }
  if (over.length === 0) return null;
  const dropped = await context.git.work.drop(over);
  return dropped.kind === 'failed' ? dropped.reason : null;
}

/** Of a task that landed, the snapshot of another attempt than the landed one may hold work that did not land. */
async function endOf(
  { board }: WorkspaceContext,
  { task, token }: WorkRef,
): Promise<'landed' | 'ended' | null> {
  const end = isOver((await board.get('task', task))?.state) ?? null;
  if (end !== 'landed') return end;
  const landed = (await board.list('landing', { task })).findLast(({ state }) => state.status === 'landed');
  return landed?.token === undefined || landed.token === null || landed.token === token ? 'landed' : 'ended';
}

/** A task that is done as it is has its result on a branch of one machine; its snapshot stays. */
function isOver(state: TaskState | undefined): 'landed' | 'ended' | undefined {
  if (state?.status === 'cancelled') return 'ended';
  if (state?.status !== 'done') return undefined;
  if (state.how === 'landed' || state.how === 'pull_request') return 'landed';
  return state.how === 'no_changes' ? 'ended' : undefined;
}

/**
 * The commit that is there now, which may be newer than what the board knows: a machine may be lost between its push and the
 * record of it. What is no snapshot of Copse stays on the remote.
 */
async function keep(
  context: WorkspaceContext,
  { commit, ...of }: RemoteWork,
): Promise<{ readonly isKept: boolean } | { readonly reason: string }> {
  const { fetchTimeoutMs: timeoutMs } = context.policy.workspace;
  const brought = await bringShared(context, of, commit, { timeoutMs });
  if (brought.kind === 'failed') return { reason: brought.reason };
  if (brought.kind === 'missing')
    return { reason: `The snapshot of ${of.task} on the remote changed meanwhile.` };
  return { isKept: (await context.rescues.adopt(commit)) !== undefined };
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
