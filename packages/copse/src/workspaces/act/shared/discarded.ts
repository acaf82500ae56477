/**
 * A reset on a board that several machines share. The others have worktrees, branches and snapshots of the discarded work: the
 * board says which, and none of them goes on from it.
 */

import type { FencingToken } from '../../../kernel/ids.ts';
import type { Task } from '../../../tasks/rules/task.ts';
import { decideReset } from '../../../tasks/rules/decisions.ts';
import type { Workspace } from '../../rules/workspace.ts';
import { type Outcome, change } from '../../../board/context.ts';
import { branchRef, keepTip } from '../../discard/rescue-first.ts';
import { resetWorkspace } from '../../discard/reset.ts';
import type { WorkspaceContext } from '../context.ts';

/** Tells the board that a person discarded all work on the task. */
export async function discardEverywhere(context: WorkspaceContext, task: Task): Promise<Outcome<null>> {
  if (context.board.engine !== 'postgres') return { kind: 'done', value: null };
  return change(context, async (change) => {
    const now = await change.require('task', task.id);
    const workspaces = (await change.board.list('workspace', { task: task.id })).map(({ id }) => id);
    await change.apply(decideReset(now, task.token, workspaces, change.at));
    return null;
  });
}

/**
 * Before a machine prepares a task: what it has from before a reset on another machine is rescued and put aside. Notes for the
 * person. The token is that of the attempt that asks.
 */
export async function leaveDiscarded(
  context: WorkspaceContext,
  { id }: Pick<Task, 'id'>,
  token: FencingToken | undefined,
): Promise<Outcome<readonly string[]>> {
  const { board, git, clock } = context;
  const nothing = { kind: 'done', value: [] } as const;
  const task = await board.get('task', id);
  const last = task && (await findDiscarded(context, task));
  if (task === undefined || !last?.worktree) return nothing;
  const { branch } = last.worktree;
  if (last.disposition.is !== 'released') {
    const reset = await resetWorkspace(context, task, token);
    if (reset.kind === 'refused') return reset;
  } else {
    const tip = await git.tip(branchRef(branch));
    if (tip === undefined || (await git.holderOf(branch)) !== undefined) return nothing;
    await keepTip(context, id, tip, clock.now());
    await git.moveRef(branchRef(branch), tip, null, `copse: ${id} was reset on another machine`);
  }
  const note = `A person began it anew on another machine, so what this one had is put aside. Bring it back: copse undo ${id}`;
  return { kind: 'done', value: [note] };
}

/** The workspace of this machine, if it is from before a reset on another one. */
export async function findDiscarded(
  { board, node }: Pick<WorkspaceContext, 'board' | 'node'>,
  { id, discarded }: Pick<Task, 'id' | 'discarded'>,
): Promise<Workspace | undefined> {
  if (discarded === undefined) return undefined;
  const last = (await board.list('workspace', { task: id })).findLast((one) => one.node === node);
  return last !== undefined && discarded.workspaces.includes(last.id) ? last : undefined;
}
