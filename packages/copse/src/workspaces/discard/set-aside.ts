/** Makes room for a new worktree where an unusable one is. */

import type { Refusal } from '../../kernel/decision.ts';
import type { FencingToken, TaskId } from '../../kernel/ids.ts';
import type { PreparationFacts } from '../rules/preparation.ts';
import type { Workspace } from '../rules/workspace.ts';
import { discard } from './discard.ts';
import { refuseIfAlive } from './removal-gate.ts';
import type { WorkspaceContext } from '../act/context.ts';

export async function setAside(
  context: WorkspaceContext,
  task: TaskId,
  of: {
    readonly path: string;
    readonly known: Workspace | undefined;
    readonly facts: PreparationFacts;
    /** Of the attempt that asks. */
    readonly token: FencingToken | undefined;
  },
): Promise<{ readonly rescue: string | null } | { readonly refusal: Refusal }> {
  const { path, known, token } = of;
  const { branch, worktree } = of.facts;
  const isUnfinished = worktree.state === 'broken' && worktree.isUnfinished;
  const hasFiles = worktree.state === 'healthy' || (worktree.state === 'broken' && !worktree.isUnfinished);
  const again = `copse work ${task}`;
  const discarded = await discard(context, {
    task,
    path,
    rescueReason: 'retry',
    recordedBranch: branch,
    base: null,
    reason: (rescue) => (hasFiles || rescue !== null ? 'broken' : 'leftover'),
    look: () => refuseIfAlive(context, task, path, known, { isUnfinished, again, token }),
  });
  return discarded.kind === 'refused' ? discarded.refusal : { rescue: discarded.entry.record.rescue };
}
