/**
 * Workspaces without a worktree: the main checkout (`static`, one task at a time), or no files at all (`none`, and tasks
 * without code).
 */

import { decided } from '../../kernel/decision.ts';
import { type TaskId, type WorkspaceId, brand, drawId } from '../../kernel/ids.ts';
import type { Task } from '../../tasks/rules/task.ts';
import type { Workspace } from '../rules/workspace.ts';
import { change } from '../../board/context.ts';
import { type WorkspaceContext, workspaceOf } from './context.ts';

export function strategyFor({ settings }: WorkspaceContext, task: Task): Workspace['strategy'] {
  return task.kind === 'non-code' ? 'none' : settings.strategy;
}

export type PreparedElsewhere =
  | { readonly workspace: Workspace; readonly reused: boolean }
  | { readonly usedBy: TaskId };

export async function prepareElsewhere(
  context: WorkspaceContext,
  task: TaskId,
  strategy: 'static' | 'none',
): Promise<PreparedElsewhere> {
  const known = await workspaceOf(context, task);
  if (known) return { workspace: known, reused: true };
  const outcome = await change(context, async (change): Promise<PreparedElsewhere> => {
    const all = strategy === 'static' ? await change.board.list('workspace') : [];
    const other = all.find(
      (one) => one.strategy === 'static' && one.node === context.node && one.disposition.is === 'in_use',
    );
    if (other) return { usedBy: other.task };
    const id: WorkspaceId = brand(drawId('ws-', context.random));
    const of = { id, at: change.at, task, node: context.node, strategy, worktree: null };
    await change.apply(decided({ type: 'workspace.prepared', ...of }));
    return { workspace: await change.require('workspace', id), reused: false };
  });
  if (outcome.kind === 'refused') throw new Error(outcome.refusal.reason);
  return outcome.value;
}
