/** Merges one queued change onto a commit, with the merge method of its agent or of the repository. */

import type { BranchName, CommitId } from '../../kernel/ids.ts';
import type { QueuedChange } from '../rules/decide/state.ts';
import type { Task } from '../../tasks/rules/task.ts';
import type { Candidate } from '../ports/merging.ts';
import type { MergeMethod } from '../rules/landing.ts';
import { type RunContext, agentNamed } from '../context.ts';
import { workspaceOf } from '../../workspaces/act/context.ts';

export async function buildCandidate(
  context: RunContext,
  onto: CommitId,
  { landing: id, task: taskId, head }: QueuedChange,
): Promise<Candidate> {
  const landing = await context.board.get('landing', id);
  const task = await context.board.get('task', taskId);
  if (landing === undefined || task === undefined) throw new Error(`${taskId} is no longer in the queue`);
  const branch = (await workspaceOf(context, task.id))?.worktree?.branch ?? (task.id as string as BranchName);
  return context.merging.build({
    task: task.id,
    title: task.title,
    plan: task.plan,
    branch,
    target: landing.target,
    onto,
    head,
    method: await methodFor(context, task),
    at: landing.queuedAt,
  });
}

export async function methodFor(
  context: RunContext,
  { session }: Pick<Task, 'session'>,
): Promise<MergeMethod> {
  const record = session === null ? undefined : await context.board.get('session', session);
  const agent = record && agentNamed(context, record.agent);
  return (agent?.landing ?? context.landing).method;
}
