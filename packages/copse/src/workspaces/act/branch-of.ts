/** What the branch of a task is called. */

import { type AgentName, type BranchName, brand } from '../../kernel/ids.ts';
import { branchName, chooseBranchPattern, slug } from '../rules/naming.ts';
import type { Task } from '../../tasks/rules/task.ts';
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

/** Git cannot have both `a` and `a/b`. If such a branch exists, slashes become dashes. */
export async function freeName({ git }: WorkspaceContext, branch: BranchName): Promise<BranchName> {
  const levels = branch.split('/');
  for (let depth = 1; depth < levels.length; depth += 1) {
    if (await git.tip(`refs/heads/${levels.slice(0, depth).join('/')}`)) return brand(levels.join('-'));
  }
  return branch;
}
