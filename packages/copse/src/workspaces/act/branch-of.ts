/** What the branch of a task is called, and which worktrees are on whose branch. */

import { type AgentName, type BranchName, type ScheduleId, type TaskId, brand } from '../../kernel/ids.ts';
import type { Change } from '../../board/context.ts';
import type { Board } from '../../board/port.ts';
import { branchName, chooseBranchPattern, isoDate, slug } from '../rules/naming.ts';
import { type Task, isFinished, jobOf } from '../../tasks/rules/task.ts';
import type { WorktreeFacts } from '../rules/preparation.ts';
import type { WorkspaceContext } from './context.ts';

export interface NamedWork {
  readonly task: Task;
  readonly agent: AgentName | null;
}

/** From the task alone, so that every attempt on every machine gets the same name. */
export function nameBranch({ settings, policy }: WorkspaceContext, { task, agent }: NamedWork) {
  const { origin } = task;
  const workItem = task.workItem?.id;
  const schedule = origin?.kind === 'schedule' ? scheduleName(origin.schedule) : undefined;
  const job = jobOf(origin) ?? task.id;
  const pattern = chooseBranchPattern(
    { pattern: settings.branch_pattern, workItem, schedule },
    policy.naming,
  );
  return branchName(pattern, {
    task: task.id,
    slug: slug(task.title, policy.naming),
    agent: agent ?? undefined,
    workItem,
    jobId: job.slice(-policy.naming.shortIdLength),
    date: isoDate(task.createdAt),
    schedule: schedule ?? policy.naming.manualSchedule,
  });
}

/** Its id is `<agent>/<name>`. */
function scheduleName(id: ScheduleId): string {
  return id.slice(id.indexOf('/') + 1);
}

export interface BranchChoice {
  readonly branch: BranchName;
  /** The board says that the task has worked on it. */
  readonly isOwn: boolean;
}

/**
 * The name under which a task begins. It goes on only with a branch that the board has as its own: a branch of another task
 * or of no task, here or on the remote, may hold any commits, so the task gets the name with a number.
 */
export async function freeName(
  context: WorkspaceContext,
  task: TaskId,
  branch: BranchName,
  /** Branches that turned out to be of others. */
  foreign: ReadonlySet<BranchName>,
): Promise<BranchChoice> {
  const owners = new Map<string, Set<TaskId>>();
  for (const { worktree, task: owner } of await context.board.list('workspace'))
    if (worktree !== null) owners.set(worktree.branch, (owners.get(worktree.branch) ?? new Set()).add(owner));
  const wanted = await withoutClash(context, branch);
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? wanted : brand<BranchName>(`${wanted}-${number}`);
    const others = owners.get(name);
    if (others?.has(task)) return { branch: name, isOwn: true };
    if (foreign.has(name) || (await exists(context, name))) continue;
    if (others === undefined || (await areOver(context.board, others))) return { branch: name, isOwn: false };
  }
}

/** In the transaction that records the branch: two tasks that begin at once do not both get it. */
export async function isNamedAlike(change: Change, task: TaskId, branch: BranchName): Promise<boolean> {
  // A name with the task's id is of no other.
  if (branch.includes(task)) return false;
  await change.board.lockSchedule();
  const others = (await change.board.list('workspace')).flatMap(({ worktree, task: owner }) =>
    worktree?.branch === branch && owner !== task ? [owner] : [],
  );
  return !(await areOver(change.board, new Set(others)));
}

async function areOver(board: Pick<Board, 'get'>, tasks: ReadonlySet<TaskId>): Promise<boolean> {
  const found = await Promise.all([...tasks].map((id) => board.get('task', id)));
  return found.every((task) => task === undefined || isFinished(task.state.status));
}

async function exists({ git }: WorkspaceContext, branch: BranchName): Promise<boolean> {
  if ((await git.tip(`refs/heads/${branch}`)) !== undefined) return true;
  const remote = await git.remoteName();
  return remote !== undefined && (await git.tip(`refs/remotes/${remote}/${branch}`)) !== undefined;
}

/** Git cannot have both `a` and `a/b`. If such a branch exists, slashes become dashes. */
async function withoutClash({ git }: WorkspaceContext, branch: BranchName): Promise<BranchName> {
  const levels = branch.split('/');
  for (let depth = 1; depth < levels.length; depth += 1) {
    if (await git.tip(`refs/heads/${levels.slice(0, depth).join('/')}`)) return brand(levels.join('-'));
  }
  return branch;
}

/** Worktrees of tasks that have another branch on the board. An agent that writes its HEAD keeps no other task from its branch. */
export async function worktreesOfOthers(
  { board, node }: WorkspaceContext,
  task: TaskId,
  branch: BranchName,
): Promise<readonly string[]> {
  return (await board.list('workspace')).flatMap((one) =>
    one.node === node &&
    one.task !== task &&
    one.disposition.is !== 'released' &&
    one.worktree !== null &&
    one.worktree.branch !== branch
      ? [one.worktree.path]
      : [],
  );
}

/** An agent wrote HEAD, or left it there: the next one would commit to that branch. */
export async function isOnForeignBranch(
  { board, node }: WorkspaceContext,
  worktree: WorktreeFacts,
  of: { readonly task: TaskId; readonly own: BranchName; readonly base: BranchName | undefined },
): Promise<boolean> {
  if (worktree.state !== 'healthy' || worktree.branch === null || worktree.branch === of.own) return false;
  if (worktree.branch === of.base) return true;
  return (await board.list('workspace')).some(
    (one) =>
      one.node === node &&
      one.task !== of.task &&
      one.disposition.is !== 'released' &&
      one.worktree?.branch === worktree.branch,
  );
}
