/** What became of a removed worktree and its branch, in lines. */

import { ignoredText } from '../../../explain/changes.ts';
import { shown } from '../../../kernel/text.ts';
import type { RemovedOne } from '../../../workspaces/discard/cleanup.ts';
import type { BranchFate } from '../../../workspaces/discard/remove.ts';
import type { Output } from '../../output.ts';

const fates: Readonly<Record<BranchFate, string>> = {
  kept: 'kept',
  deleted: 'deleted',
  gone: 'was already deleted',
};

/** Everything after its path. */
export function removedLines(
  { branch, becameOfBranch, rescue, notes, ignored, task }: RemovedOne,
  output: Output,
): readonly string[] {
  const words = ignoredText(ignored);
  return [
    ...(rescue === null ? [] : [`    rescued as ${shown(rescue)}`]),
    ...(words === undefined ? [] : [`    ignored by git, so only in the trash: ${words}`]),
    ...(branch === null ? [] : [`    branch ${shown(branch)} ${fates[becameOfBranch]}`]),
    ...notes.map((note) => output.style('yellow', `    ${shown(note)}`)),
    output.style('dim', `    To bring the worktree back: copse undo ${task} --worktree`),
  ];
}
