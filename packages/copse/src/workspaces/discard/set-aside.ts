/** What is in the way of a new worktree. */

import type { Refusal } from '../../kernel/decision.ts';
import type { FencingToken, TaskId } from '../../kernel/ids.ts';
import type { PreparationFacts } from '../rules/preparation.ts';
import type { Workspace } from '../rules/workspace.ts';
import { refuseIfAlive } from './removal-gate.ts';
import { keepTip, rescueFirst, tipOrRescued } from './rescue-first.ts';
import type { WorkspaceContext } from '../act/context.ts';

/** What is there is saved, if it is anybody's, and then goes to the trash whole, unless somebody is in it. */
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
  const { git, trash, clock } = context;
  const { path, known, token } = of;
  const { branch, worktree } = of.facts;
  const isUnfinished = worktree.state === 'broken' && worktree.isUnfinished;
  const again = `copse work ${task}`;
  const refuse = () => refuseIfAlive(context, task, path, known, { isUnfinished, again, token });
  const alive = await refuse();
  if (alive) return alive;
  const at = clock.now();
  const rescue = await rescueFirst(context, { task, worktree: path, why: 'retry', at, asBranch: branch });
  // Somebody may have gone in while the files were being saved.
  const aliveNow = await refuse();
  if (aliveNow) return aliveNow;
  const tip = await tipOrRescued(context, branch, rescue);
  if (tip) await keepTip(context, task, tip, at);
  const hasFiles = worktree.state === 'broken' && !worktree.isUnfinished;
  await trash.put({
    path,
    gitDir: git.gitDirOf(path) ?? null,
    record: {
      task,
      path,
      branch,
      branchTip: tip,
      head: null,
      base: null,
      rescue,
      at,
      why: hasFiles || rescue !== null ? 'broken' : 'leftover',
    },
  });
  return { rescue };
}
