/** Removes the worktrees of finished tasks in which no process is alive, each through the gate. */

import type { TaskId } from '../../kernel/ids.ts';
import { Unavailable } from '../../kernel/unavailable.ts';
import { type TaskStatus, isFinished, statusPredicate } from '../../tasks/rules/task.ts';
import type { Ignored } from '../../git/port.ts';
import { type Removed, removeWorkspace } from './remove.ts';
import type { WorkspaceContext } from '../act/context.ts';

interface Kept {
  readonly task: TaskId;
  readonly path: string;
  readonly reason: string;
  /** Its task is not over, so that it is no candidate. */
  readonly isInUse?: true;
}

/** `ignored`: files that only the trash has; undefined when git could not tell. */
export type RemovedOne = Extract<Removed, { kind: 'removed' }> & { readonly ignored: Ignored | undefined };

export interface CleanedUp {
  readonly removed: readonly (RemovedOne & { readonly why: string })[];
  readonly kept: readonly Kept[];
}

export interface CleanUpOptions {
  readonly isForced: boolean;
  /** Called when a removal would take away work; without force only a yes removes it. */
  readonly mayRemove: (question: string) => Promise<boolean>;
}

export async function cleanUp(context: WorkspaceContext, options: CleanUpOptions): Promise<CleanedUp> {
  const removed: (RemovedOne & { readonly why: string })[] = [];
  const kept: Kept[] = [];
  for (const { task, path } of await candidates(context)) {
    const status = (await context.board.get('task', task))?.state.status ?? null;
    if (status === null || !isFinished(status)) {
      const reason = stillWanted(task, status);
      kept.push({ task, path, reason, ...(status !== null && { isInUse: true }) });
      continue;
    }
    const outcome = await removeOne(context, task, options);
    if (outcome.kind === 'removed')
      removed.push({ ...(await withIgnored(context, outcome)), why: `${task} is ${status}` });
    else {
      const reason = outcome.kind === 'question' ? notAnswered(task, outcome) : outcome.reason;
      kept.push({ task, path, reason });
    }
  }
  return { removed, kept };
}

/** For people, after the removal: it reads every folder, which takes long. */
export async function withIgnored(
  { git }: WorkspaceContext,
  removed: Extract<Removed, { kind: 'removed' }>,
): Promise<RemovedOne> {
  const { trashed } = removed;
  return { ...removed, ignored: trashed === null ? { count: 0, first: [] } : await git.ignored(trashed) };
}

async function candidates({
  board,
  node,
}: WorkspaceContext): Promise<readonly { readonly task: TaskId; readonly path: string }[]> {
  const all = await board.list('workspace');
  const latest = new Map(
    all
      .filter((one) => one.node === node && one.disposition.is !== 'released')
      .flatMap((one) => (one.worktree === null ? [] : [[one.task, one.worktree.path] as const])),
  );
  return [...latest].map(([task, path]) => ({ task, path }));
}

async function removeOne(
  context: WorkspaceContext,
  task: TaskId,
  { isForced, mayRemove }: CleanUpOptions,
): Promise<Removed> {
  const request = { by: 'person', isNamed: false, isForced, deleteBranch: false } as const;
  try {
    const outcome = await removeWorkspace(context, task, request);
    if (outcome.kind !== 'question' || !(await mayRemove(outcome.question))) return outcome;
    return await removeWorkspace(context, task, { ...request, isForced: true });
  } catch (error) {
    // A worktree that cannot be saved stays; the others are removed all the same.
    if (!(error instanceof Unavailable)) throw error;
    return { kind: 'refused', reason: error.message, next: [error.remedy] };
  }
}

function stillWanted(task: TaskId, status: TaskStatus | null): string {
  return status === null
    ? `The board has no task ${task}, so its worktree is kept. Remove it: copse cleanup ${task}`
    : `${task} ${statusPredicate(status)}, so its worktree is kept.`;
}

function notAnswered(task: TaskId, { question }: { readonly question: string }): string {
  const why = question.replace(/^Remove the worktree of \S+\? /, '');
  return `${why} Remove it: copse cleanup ${task} --yes`;
}
