/**
 * Starts a worktree over: it is discarded (discard.ts) and its branch is deleted, so that the next worktree begins at the
 * newest base. `copse undo` brings all of it back. A reset that was killed is finished by the next one: the entry in the
 * trash says how far it got.
 */

import { refused } from '../../kernel/decision.ts';
import type { FencingToken } from '../../kernel/ids.ts';
import type { Task } from '../../tasks/rules/task.ts';
import { type Workspace, decideWorkspace } from '../rules/workspace.ts';
import type { TrashRecord } from '../ports/trash.ts';
import { type Outcome, change } from '../../board/context.ts';
import { discard } from './discard.ts';
import { refuseIfAlive } from './removal-gate.ts';
import { branchRef } from './rescue-first.ts';
import { type WorkspaceContext, workspaceOf } from '../act/context.ts';

/** Needs the task's lock. The lease with this token does not refuse: it is the caller's own. */
export async function resetWorkspace(
  context: WorkspaceContext,
  task: Task,
  token?: FencingToken,
): Promise<Outcome<null>> {
  const workspace = await workspaceOf(context, task.id);
  const worktree = workspace?.worktree;
  if (!worktree) return { kind: 'done', value: null };
  const facts = await context.git.look(worktree.path);
  const begun = facts.state === 'absent' ? await begunReset(context, task) : undefined;
  if (begun) return finish(context, workspace, begun);
  const isUnfinished = facts.state === 'broken' && facts.isUnfinished;
  const again = `copse work ${task.id} --reset`;
  const refuse = () =>
    refuseIfAlive(context, task.id, worktree.path, workspace, { isUnfinished, again, token });
  const discarded = await discard(context, {
    task: task.id,
    path: worktree.path,
    rescueReason: 'reset',
    recordedBranch: worktree.branch,
    base: worktree.baseCommit,
    reason: () => 'reset',
    look: refuse,
    // Without a token a person asked for it. `copse undo` needs no store.
    ...(token === undefined && { onSetAside: () => {} }),
  });
  if (discarded.kind === 'refused') return discarded.refusal;
  return finish(context, workspace, discarded.entry.record);
}

/** The record of a reset that was killed after it had moved the worktree to the trash. */
async function begunReset({ trash, git }: WorkspaceContext, { id }: Task): Promise<TrashRecord | undefined> {
  const latest = (await trash.list()).find(({ record }) => record.task === id)?.record;
  if (latest?.why !== 'reset' || latest.branch === null) return undefined;
  const tip = (await git.tip(branchRef(latest.branch))) ?? null;
  return tip === null || tip === latest.branchTip ? latest : undefined;
}

async function finish(
  context: WorkspaceContext,
  workspace: Workspace,
  { task, branch, branchTip, rescue }: TrashRecord,
): Promise<Outcome<null>> {
  // An agent may have switched to another branch; only the one that was made for the task is deleted.
  if (branch !== null && branchTip !== null && branch === workspace.worktree?.branch) {
    const moved = await context.git.moveRef(branchRef(branch), branchTip, null, `copse: ${task} is reset`);
    if (moved.kind !== 'moved' && moved.tip !== null) {
      const reason = `The branch ${branch} moved while it was being reset, so it stays where it is now.`;
      return refused('wrong_status', reason, `copse undo ${task}`);
    }
  }
  return change(context, async (change) => {
    const now = await change.require('workspace', workspace.id);
    await change.apply(decideWorkspace(now, { action: 'release', rescue }, change.at));
    return null;
  });
}
