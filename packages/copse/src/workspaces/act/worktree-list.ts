/** Every worktree of a task on this machine, with its facts from git and the board. */

import type { Git } from '../../git/port.ts';
import type { BranchName, CommitId } from '../../kernel/ids.ts';
import { parseQueueWorktree } from '../rules/naming.ts';
import type { WorktreeFacts } from '../rules/preparation.ts';
import { type Task, type TaskStatus, isFinished } from '../../tasks/rules/task.ts';
import { type Workspace, type WorkspaceStatus, workspaceStatus } from '../rules/workspace.ts';
import { baseBranchOf, findNewestBase } from './newest-base.ts';
import type { WorkspaceContext } from './context.ts';

/** Less than other acts need, so that it opens sooner. */
export type ListContext = Pick<WorkspaceContext, 'board' | 'clock' | 'git' | 'node' | 'target'> & {
  /** Of another repository; undefined if it is gone. */
  readonly gitAt?: (root: string) => Git | undefined;
};

export interface ListedWorktree {
  readonly workspace: Workspace;
  readonly path: string;
  /**
   * `idle`: as `active`, but its task is not being worked on. `left_over`: its task is over, and it has work that did not land, or none at all. `missing`: the folder was deleted.
   * `no_folder`: it never had one, as the revert that `copse undo` commits.
   * `broken`: it is no longer a worktree of this repository; `why` says why.
   */
  readonly status: WorkspaceStatus | 'idle' | 'left_over' | 'no_folder' | 'missing' | 'broken';
  readonly why: string | null;
  /** Null when the board has no such task. */
  readonly taskStatus: TaskStatus | null;
  readonly title: string | null;
  /** Finished, committed, with something to land, and not handed back by the gate or the queue. */
  readonly isReadyToMerge: boolean;
  /** The branch that is checked out; null when HEAD is detached. */
  readonly branch: BranchName | null;
  /** Commits that the base does not have; null when that cannot be told. */
  readonly ahead: number | null;
  readonly uncommitted: number | null;
  readonly operation: string | null;
}

export interface SpareWorktree {
  readonly path: string;
  /**
   * In the pool; in use by the queue's checks; or made by a person or another tool, which Copse leaves alone.
   */
  readonly kind: 'pooled' | 'queue' | 'not_managed';
}

/** Worktrees that git has registered and that belong to no task. */
export async function listSpareWorktrees(
  context: ListContext & Pick<WorkspaceContext, 'pool'>,
): Promise<readonly SpareWorktree[]> {
  const { git, pool } = context;
  const ours = new Set<string>((await loadWorkspaces(context)).map(({ worktree }) => worktree.path));
  const pooled = new Set(pool.list().map(({ path }) => path));
  return git
    .worktrees()
    .filter(({ path }) => !ours.has(path))
    .map(({ name, path }) => ({ path, kind: kindOf(name, pooled.has(path)) }));
}

function kindOf(name: string, isPooled: boolean): SpareWorktree['kind'] {
  if (isPooled) return 'pooled';
  return parseQueueWorktree(name) === undefined ? 'not_managed' : 'queue';
}

/** Git looks at this many worktrees at a time. */
const AT_ONCE = 4;

/** Oldest first. */
export async function listWorktrees(context: ListContext): Promise<readonly ListedWorktree[]> {
  const workspaces = await loadWorkspaces(context);
  const listed: ListedWorktree[] = [];
  for (let from = 0; from < workspaces.length; from += AT_ONCE) {
    const some = workspaces.slice(from, from + AT_ONCE);
    listed.push(...(await Promise.all(some.map((one) => describe(context, one)))));
  }
  return listed;
}

type WithWorktree = Workspace & { readonly worktree: NonNullable<Workspace['worktree']> };

/** One for each task: the latest that was not released. */
async function loadWorkspaces({ board, node }: ListContext): Promise<readonly WithWorktree[]> {
  const all = await board.list('workspace');
  const latest = new Map(
    all
      .filter((one): one is WithWorktree => one.worktree !== null)
      .filter((one) => one.node === node && one.disposition.is !== 'released')
      .map((one) => [one.task, one]),
  );
  return [...latest.values()];
}

async function describe(whole: ListContext, workspace: WithWorktree): Promise<ListedWorktree> {
  const context = placeOf(whole, workspace);
  const { git, board } = context;
  const { path, branch } = workspace.worktree;
  const facts = await git.look(path);
  const task = await board.get('task', workspace.task);
  const taskStatus = task?.state.status ?? null;
  const of = { workspace, path, taskStatus, title: task?.title ?? null };
  if (facts.state !== 'healthy') {
    const isGone = facts.state === 'absent';
    // Without a session, `copse undo` made it.
    const isBranchOnly = isGone && task?.session === null;
    const gone = isBranchOnly ? 'only a branch, made by copse undo' : 'its folder is gone';
    const why = isGone ? gone : facts.why;
    const status = isBranchOnly ? 'no_folder' : isGone ? 'missing' : 'broken';
    return {
      ...of,
      status,
      why,
      branch,
      ahead: null,
      uncommitted: null,
      operation: null,
      isReadyToMerge: false,
    };
  }
  const [counts, uncommitted] = await Promise.all([
    countCommits(context, workspace, facts),
    countUncommitted(context, path),
  ]);
  const lease = await board.lease(workspace.task);
  // Only shown: the lease of another machine is by its clock.
  const leaseIsLive = lease !== undefined && lease.expiresAt > context.clock.now();
  const derived = workspaceStatus(workspace.disposition, {
    leaseIsLive,
    // Unknown counts as possible work.
    hasUncommittedChanges: uncommitted !== 0,
    hasCommitsOfItsOwn: counts.own > 0,
    isMerged: counts.own > 0 && (counts.ahead === 0 || (await hasLanded(context, task, facts.head))),
  });
  const status = derived === 'active' && !leaseIsLive ? withoutLease(taskStatus) : derived;
  const { ahead } = counts;
  const { operation } = facts;
  const isCommitted = uncommitted === 0 && operation === null && facts.branch === branch;
  // One that needs attention was handed back: `copse merge` would most likely fail again.
  const isReadyToMerge = isCommitted && (ahead ?? 0) > 0 && taskStatus === 'in_review';
  return {
    ...of,
    status,
    why: null,
    branch: facts.branch,
    ahead,
    uncommitted,
    operation,
    isReadyToMerge,
  };
}

/** By a rebase or a squash, which the base has as other commits. */
async function hasLanded({ board }: ListContext, task: Task | undefined, head: CommitId): Promise<boolean> {
  if (task?.state.status !== 'done') return false;
  if (task.state.head === head) return true;
  const landings = await board.list('landing', { task: task.id });
  return landings.some((one) => one.state.status === 'landed' && one.head === head);
}

function placeOf(context: ListContext, { repository }: Workspace): ListContext {
  const git = repository === undefined ? undefined : context.gitAt?.(repository);
  return git === undefined ? context : { ...context, git, target: undefined };
}

function withoutLease(taskStatus: TaskStatus | null): 'active' | 'idle' | 'left_over' {
  if (taskStatus === null || isFinished(taskStatus)) return 'left_over';
  return taskStatus === 'in_progress' ? 'active' : 'idle';
}

async function countCommits(
  { git, target }: ListContext,
  { worktree }: WithWorktree,
  { head }: Extract<WorktreeFacts, { state: 'healthy' }>,
): Promise<{ readonly own: number; readonly ahead: number | null }> {
  const name = await baseBranchOf(git, target, worktree.baseBranch);
  const base = name && (await findNewestBase(git, name));
  const own = (await git.tip(worktree.baseCommit)) ? await git.countCommits(worktree.baseCommit, head) : 0;
  return { own, ahead: base ? await git.countCommits(base.commit, head) : null };
}

/** Null when git cannot tell, so that one worktree does not fail the whole list. */
async function countUncommitted({ git }: ListContext, path: string): Promise<number | null> {
  try {
    const { changed, untracked } = await git.uncommitted(path);
    return changed.length + untracked.length;
  } catch {
    return null;
  }
}
