/** Keeps the workspace of a task from being cleaned up until a person has looked at it. */

import type { NodeId, TaskId } from '../../kernel/ids.ts';
import type { AttentionCause } from '../../tasks/rules/task.ts';
import { decideWorkspace } from '../rules/workspace.ts';
import type { Change } from '../../board/context.ts';
import { workspaceOf } from './context.ts';

export async function keepWorkspace(
  change: Change,
  { task, node }: { readonly task: TaskId; readonly node: NodeId },
  { because, reason }: { readonly because: AttentionCause; readonly reason: string },
): Promise<void> {
  const workspace = await workspaceOf({ board: change.board, node }, task);
  if (!workspace) return;
  const why = because === 'conflict' ? 'conflict' : 'asked';
  const detail = reason.split('\n', 1)[0] ?? because;
  await change.apply(decideWorkspace(workspace, { action: 'keep', why, detail }, change.at));
}
