/**
 * Branches that an agent made in its worktree besides the task's own: renamed, or switched to. With the worktree go those whose
 * commits landed; their tips stay under a ref of Copse's own if the target does not have them. The others stay and are named.
 *
 * Git's reflogs tell which branches were made in the worktree (git/worktrees/reflog.ts). Branches of people and of other tasks
 * are not touched.
 */

import type { BranchName, CommitId, TaskId } from '../../kernel/ids.ts';
import { shown } from '../../kernel/text.ts';
import { beginningMessage } from '../rules/naming.ts';
import type { Workspace } from '../rules/workspace.ts';
import type { WorkspaceContext } from '../act/context.ts';
import { stateOf } from './removal-gate.ts';
import { branchRef, keepTip } from './rescue-first.ts';

export interface StrayBranch {
  readonly branch: BranchName;
  readonly tip: CommitId;
}

/** Before the worktree moves: git's notes about it move with it. */
export async function findStrays(
  { git, board, target }: WorkspaceContext,
  { task, preparedAt, worktree }: Workspace,
): Promise<readonly StrayBranch[]> {
  if (worktree === null) return [];
  const strays: StrayBranch[] = [];
  const since = { sinceMs: preparedAt, first: beginningMessage(task) };
  const wanted = new Set<string | undefined>([worktree.branch, worktree.baseBranch, target]);
  for (const branch of git.branchesMadeIn(worktree.path, since)) {
    if (wanted.has(branch) || (await git.isAlias(branch))) continue;
    const tip = await git.tip(branchRef(branch));
    if (tip !== undefined) strays.push({ branch, tip });
  }
  if (strays.length === 0) return [];
  const ofTasks = new Set((await board.list('workspace')).map((one) => one.worktree?.branch));
  return strays.filter(({ branch }) => !ofTasks.has(branch));
}

/** Sentences about what became of them. */
export async function removeStrays(
  context: WorkspaceContext,
  workspace: Workspace,
  strays: readonly StrayBranch[],
): Promise<readonly string[]> {
  const { git, clock } = context;
  const { task } = workspace;
  const notes: string[] = [];
  for (const { branch, tip } of strays) {
    const name = shown(branch);
    const holder = await git.holderOf(branch);
    const fate = holder === undefined ? await fateOf(context, task, workspace, tip) : 'unmerged';
    if (fate === 'unmerged' || fate === 'unknown') {
      const why = holder === undefined ? 'it has commits that did not land' : `${holder} has it checked out`;
      notes.push(`The branch ${name}, made in its worktree, was kept: ${why}.`);
      continue;
    }
    const kept = fate === 'landed' ? await keepTip(context, task, tip, clock.now()) : null;
    const moved = await git.moveRef(branchRef(branch), tip, null, `copse: ${task} is removed`);
    const where = kept === null ? '' : ` Its last commit is kept as ${kept}.`;
    notes.push(
      moved.kind === 'moved' || moved.tip === null
        ? `The branch ${name}, made in its worktree, was deleted: its commits landed.${where}`
        : `The branch ${name}, made in its worktree, was kept: it moved meanwhile.`,
    );
  }
  return notes;
}

/** Whether its commits landed, and whether the target has them as they are. `unknown`: there is no base. */
export async function fateOf(
  context: WorkspaceContext,
  task: TaskId,
  workspace: Workspace | undefined,
  tip: CommitId,
): Promise<'in_target' | 'landed' | 'unmerged' | 'unknown'> {
  const { board, git } = context;
  const { branch, isInBase, unmerged } = await stateOf(context, tip, workspace);
  if (branch === 'merged') return isInBase ? 'in_target' : 'landed';
  // Merged into what was submitted.
  for (const { head, state } of await board.list('landing', { task }))
    if (state.status === 'landed' && (await git.isAncestor(tip, head))) return 'landed';
  return unmerged === null ? 'unknown' : 'unmerged';
}
