/** A merge or rebase in the worktree of a task that a person has to finish before it can land. */

import type { TaskId } from '../../kernel/ids.ts';
import { shellWord } from '../../kernel/shell.ts';

export function unfinishedText(operation: string): string {
  return `a ${operation} in its worktree is not finished`;
}

export function unfinishedSteps(
  id: TaskId,
  worktree: string,
  operation: string,
  goOn: 'finish' | 'merge' = 'merge',
): readonly [string, ...string[]] {
  return [
    `cd ${shellWord(worktree)} # resolve and commit it there`,
    `copse ${goOn} ${id} # after your commit`,
    ...(operation === 'merge' ? [`git -C ${shellWord(worktree)} merge --abort # to undo the merge`] : []),
  ];
}
