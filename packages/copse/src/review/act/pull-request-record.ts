/** Records the state of a pull request on the board: changed, merged, or given up. */

import type { CommitId, TaskId } from '../../kernel/ids.ts';
import type { PullRequest } from '../rules/pull-request.ts';
import type { Task } from '../../tasks/rules/task.ts';
import { decideGiveUp, decideLand, decidePullRequest } from '../../tasks/rules/outcomes.ts';
import { type Change, change } from '../../board/context.ts';
import { keepWorkspace } from '../../workspaces/act/keep-workspace.ts';
import { recordArtifact, recordLandedCommit } from '../../tasks/act/artifacts.ts';
import { promoteDependants } from '../../tasks/act/promote.ts';
import type { RunContext } from '../../queue/context.ts';

/** A task in review whose pull request Copse follows. */
export interface SubmittedTask {
  readonly task: Task;
  readonly head: CommitId;
  readonly pullRequest: PullRequest;
}

export function submittedOf(task: Task | undefined): SubmittedTask | undefined {
  if (task?.state.status !== 'in_review' || task.state.pullRequest === null) return undefined;
  const { head, pullRequest } = task.state;
  return { task, head, pullRequest };
}

/** Undefined, or why the change was refused: the task has moved on. */
export async function recordChange(
  context: RunContext,
  { task: { id }, head }: SubmittedTask,
  pullRequest: PullRequest,
): Promise<string | undefined> {
  const outcome = await change(context, async (change) => {
    const decision = decidePullRequest(await change.require('task', id), head, pullRequest, change.at);
    if (decision === null) return;
    await change.apply(decision);
    if (pullRequest.is === 'open') await addAddress(context, change, id, pullRequest.url);
  });
  return outcome.kind === 'done' ? undefined : outcome.refusal.reason;
}

/** An artifact, so that the address stays when the task is done. */
async function addAddress(context: RunContext, change: Change, task: TaskId, address: string): Promise<void> {
  await recordArtifact(change, context, task, { kind: 'uri', address, title: 'its pull request' });
}

/** The task is done, and its dependants may start. */
export async function recordMerged(
  context: RunContext,
  { task: { id }, head }: SubmittedTask,
  { commit, hasAll }: { readonly commit: CommitId | null; readonly hasAll: boolean },
): Promise<string | undefined> {
  const outcome = await change(context, async (change) => {
    const task = await change.require('task', id);
    await change.apply(decideLand(task, { kind: 'pull_request', commit, head, hasAll }, change.at));
    if (commit !== null) await recordLandedCommit(change, context, id, commit);
    await promoteDependants(change, id, context.node);
  });
  return outcome.kind === 'done' ? undefined : outcome.refusal.reason;
}

/** `on_push_failure: fail`: the task needs attention. */
export async function recordGivenUp(
  context: RunContext,
  { task: { id }, head }: SubmittedTask,
  reason: string,
): Promise<string | undefined> {
  const because = 'push';
  const outcome = await change(context, async (change) => {
    const task = await change.require('task', id);
    await change.apply(decideGiveUp(task, { head }, { because, reason }, change.at));
    await keepWorkspace(change, { task: id, node: context.node }, { because, reason });
  });
  return outcome.kind === 'done' ? undefined : outcome.refusal.reason;
}
