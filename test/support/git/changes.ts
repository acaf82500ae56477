/** The change between two commits as the server answers it. */

import { type CommitId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { openDiffs } from '../../../packages/copse/src/workspaces/git/diff.ts';
import { newRepository } from '../cli.ts';
import { commitAll, trustedDirOf, write } from '../workspaces/task-worktree.ts';

type Contents = Readonly<Record<string, string | Buffer>>;

/** From the files before, what the work in their folder changes. */
export function changesIn(area: string) {
  return async (before: Contents, work: (folder: string) => void) => {
    const folder = newRepository(area);
    write(folder, { ...before, zz: '' });
    const from = brand<CommitId>(commitAll(folder, 'base'));
    work(folder);
    const to = brand<CommitId>(commitAll(folder, 'work'));
    const { files, patch } = await openDiffs(trustedDirOf(folder)).compare({ from, to });
    return { files, text: patch.toString() };
  };
}
