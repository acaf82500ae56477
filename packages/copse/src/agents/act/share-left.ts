/**
 * The last snapshot of an attempt whose runner is gone: this machine still has files that changed after the runner's own last
 * one, and the next attempt may be on another machine. Best effort: the files stay here in any case.
 */

import type { AttemptId, FencingToken, TaskId } from '../../kernel/ids.ts';
import { decided } from '../../kernel/decision.ts';
import { change } from '../../board/context.ts';
import type { RunContext } from '../../queue/context.ts';
import type { Workspace } from '../../workspaces/rules/workspace.ts';
import { workspaceOf } from '../../workspaces/act/context.ts';
import { sharesWork, snapshotHere } from '../../workspaces/act/shared/share-work.ts';

export async function shareLeft(
  context: RunContext,
  of: { readonly task: TaskId; readonly attempt: AttemptId; readonly token: FencingToken },
): Promise<void> {
  if (!(await sharesWork(context))) return;
  const worktree = (await workspaceOf(context, of.task))?.worktree;
  if (!worktree) return;
  try {
    await share(context, of, worktree);
  } catch {
    // Files that cannot be read are the business of the rescue, which comes next.
  }
}

async function share(
  context: RunContext,
  { task, attempt, token }: Parameters<typeof shareLeft>[1],
  { path, branch, baseCommit }: NonNullable<Workspace['worktree']>,
): Promise<void> {
  const { clock, git, policy, rescues } = context;
  const readAt = clock.now();
  await git.stores.bring(task);
  const previous = await snapshotHere(context, { task, token });
  const of = { task, worktree: path, branch, at: readAt, known: null, previous: previous?.commit ?? null };
  const seen = await rescues.travelling(of);
  if (seen.kind !== 'captured' || (seen.isClean && seen.head === baseCommit)) return;
  if ((await git.work.newBytes(seen.commit, [])) > policy.travel.pushBytes) return;
  const pushed = await git.work.push({ task, token }, seen.commit, policy.travel.lastMs);
  if (pushed.kind !== 'pushed') return;
  await change(context, async (change) => {
    const { commit, head } = seen;
    await change.apply(
      decided({ type: 'attempt.snapshotted', id: attempt, at: change.at, commit, head, readAt }),
    );
  });
}
