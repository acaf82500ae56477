/**
 * The last snapshot of an attempt whose runner is gone: this machine still has files that changed after the runner's own last
 * one, and the next attempt may be on another machine. The files stay here in any case.
 */

import type { AttemptId, FencingToken, TaskId } from '../../../kernel/ids.ts';
import type { RunContext } from '../../../queue/context.ts';
import type { Task } from '../../../tasks/rules/task.ts';
import { attemptToHandIn } from '../../rules/session/lost-attempt.ts';
import { workspaceOf } from '../../../workspaces/act/context.ts';
import { sharesWork, snapshotHere } from '../../../workspaces/act/shared/share-work.ts';
import { type SharedAttempt, SnapshotSender } from './send-snapshot.ts';

/**
 * For a machine that was cut off and lost its task meanwhile: nothing that its agent wrote may exist only here. It goes to the
 * attempt's own ref, beside that of the next one.
 */
export async function findLost(
  { board, node, occupancy }: RunContext,
  task: Task,
): Promise<LeftAttempt | 'none' | 'running'> {
  const lost = attemptToHandIn(task, await board.list('attempt', { task: task.id }), node);
  if (lost === undefined) return 'none';
  // Its runner may still hand the work in.
  if (lost.process && (await occupancy.isAlive(lost.process))) return 'running';
  return { task: task.id, attempt: lost.id, token: lost.token };
}

interface LeftAttempt {
  readonly task: TaskId;
  readonly attempt: AttemptId;
  readonly token: FencingToken;
}

/** Why its last changes are not on the remote; null if they are, or if work does not travel. Never throws. */
export async function shareLeft(context: RunContext, left: LeftAttempt): Promise<string | null> {
  try {
    if (!(await sharesWork(context))) return null;
    const worktree = (await workspaceOf(context, left.task))?.worktree;
    if (!worktree) return null;
    const { path, branch, baseCommit } = worktree;
    if ((await context.git.look(path)).state !== 'healthy') return null;
    return await send(context, { ...left, worktree: path, branch, baseCommit, hasStore: true });
  } catch (error) {
    // Files that cannot be read are the business of the rescue, which comes next.
    return error instanceof Error ? error.message : String(error);
  }
}

async function send(context: RunContext, of: SharedAttempt): Promise<string | null> {
  const previous = await snapshotHere(context, of);
  const sender = new SnapshotSender(context, of, previous);
  const sent = await sender.send({ timeoutMs: context.policy.travel.lastMs });
  if (sent.kind === 'failed') return sent.reason;
  return sent.kind === 'there' ? sent.refused : null;
}
