/** What the branch of a task is called, and which worktrees are on whose branch. */

import { type AgentName, type BranchName, type TaskId, brand } from '../../kernel/ids.ts';
import { branchName, chooseBranchPattern, slug } from '../rules/naming.ts';
import { type Task, isFinished } from '../../tasks/rules/task.ts';
import type { WorktreeFacts } from '../rules/preparation.ts';
import type { WorkspaceContext } from './context.ts';

export interface NamedWork {
  readonly task: Task;
  readonly agent: AgentName | null;
  readonly schedule?: string;
  readonly jobId?: string;
}

export function nameBranch({ settings, policy, clock }: WorkspaceContext, request: NamedWork) {
  const { task, agent, schedule, jobId } = request;
  const workItem = task.workItem?.id;
  const pattern = chooseBranchPattern(
    { pattern: settings.branch_pattern, workItem, schedule },
    policy.naming,
  );
  const date = new Date(clock.now()).toISOString().slice(0, 10);
  const short = (jobId ?? task.id).slice(-policy.naming.shortIdLength);
  return branchName(pattern, {
    task: task.id,
    slug: slug(task.title, policy.naming),
    agent: agent ?? undefined,
    workItem,
    jobId: short,
    date,
    schedule,
  });
}

/**
 * The name under which a task begins. A pattern can give two tasks the same name: the branch of a task that is over, which may
 * still exist here or on the remote, is not continued by another one, which gets the name with a number.
 */
export async function freeName(
  context: WorkspaceContext,
  task: TaskId,
  branch: BranchName,
): Promise<BranchName> {
  const { board } = context;
  const owners = new Map<string, Set<TaskId>>();
  for (const one of await board.list('workspace')) {
    if (one.worktree === null) continue;
    const { branch: name } = one.worktree;
    owners.set(name, (owners.get(name) ?? new Set()).add(one.task));
  }
  const wanted = await withoutClash(context, branch);
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? wanted : brand<BranchName>(`${wanted}-${number}`);
    const others = owners.get(name);
    if (others === undefined || others.has(task)) return name;
    const states = await Promise.all([...others].map((id) => board.get('task', id)));
    const isOver = states.every((one) => one === undefined || isFinished(one.state.status));
    // One that still works keeps its branch, and this task waits for it.
    if (!isOver || !(await mayExist(context, name))) return name;
  }
}

async function mayExist({ git, settings }: WorkspaceContext, branch: BranchName): Promise<boolean> {
  if ((await git.tip(`refs/heads/${branch}`)) !== undefined) return true;
  const remote = await git.remoteName();
  if (remote === undefined) return false;
  // A fetch may bring it.
  return settings.fetch_before_setup || (await git.tip(`refs/remotes/${remote}/${branch}`)) !== undefined;
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
