/**
 * Which commit a task's work is at. Its branch is the one on the board. HEAD of its worktree, which an agent can write, counts if
 * it is on that branch, or if its commit was made in the worktree: agents commit on branches of their own, and detached.
 */

import type { BranchName, CommitId } from '../../kernel/ids.ts';
import { shown } from '../../kernel/text.ts';
import type { Git } from '../../git/port.ts';
import type { WorktreeFacts } from '../rules/preparation.ts';

export interface TaskHead {
  /** Undefined when the branch was deleted and the worktree is gone. */
  readonly head: CommitId | undefined;
  /** Where HEAD of the worktree is, if not on the task's branch. */
  readonly finding: string | null;
}

export async function headOfTask(
  git: Pick<Git, 'tip' | 'isMadeIn'>,
  { path, branch }: { readonly path: string; readonly branch: BranchName },
  seen: WorktreeFacts,
): Promise<TaskHead> {
  const tip = () => git.tip(`refs/heads/${branch}`);
  if (seen.state !== 'healthy') return { head: await tip(), finding: null };
  if (seen.branch === branch) return { head: seen.head, finding: null };
  const head = git.isMadeIn(path, seen.head) ? seen.head : ((await tip()) ?? seen.head);
  return { head, finding: headElsewhere(branch, seen.branch) };
}

function headElsewhere(own: BranchName, on: BranchName | null): string {
  return `HEAD of its worktree is ${on === null ? 'detached' : `on ${shown(on)}`}, not on its branch ${shown(own)}.`;
}
