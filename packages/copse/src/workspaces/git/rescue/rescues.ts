/** The rescues of a repository: making, finding, reading and putting them back. */

import type { TaskId } from '../../../kernel/ids.ts';
import type { Rescue, Rescues } from '../../../git/port.ts';
import { utf8 } from '../../../git/output.ts';
import { listKeptTips } from './kept-tips.ts';
import { git, type TrustedDir } from '../../../git/process.ts';
import { parseRescue } from './record.ts';
import { restoreRescue } from './restore.ts';
import { snapshotWorktree } from './snapshot.ts';
import { RESCUE_REFS } from './snapshot-commits.ts';
import { diffTrees } from './restore-trees.ts';
import { emptyTree } from './snapshot-files.ts';

export function openRescues(dir: TrustedDir): Rescues {
  return {
    snapshot: (request) => snapshotWorktree(dir, request),
    list: (task) => listRescues(dir, task),
    kept: () => listKeptTips(dir),
    find: async (ref) => (await listRescues(dir)).find((rescue) => rescue.ref === ref),
    changes: async (rescue) => {
      const changes = await diffTrees(dir, rescue.head ?? emptyTree(dir), rescue.commit);
      return [...changes].map(([file, { from, to }]) => ({
        path: utf8(file),
        change: from === undefined ? 'added' : to === undefined ? 'deleted' : 'changed',
      }));
    },
    restore: (rescue, worktree) => restoreRescue(dir, rescue, worktree),
  };
}

/** Oldest first. */
async function listRescues(dir: TrustedDir, task?: TaskId): Promise<readonly Rescue[]> {
  const format = '--format=%(refname)%00%(objectname)%00%(objecttype)%00%(contents)%00';
  const output = await git(dir, ['for-each-ref', format, `${RESCUE_REFS}/`]);
  const fields = output.toString().split('\0');
  const rescues: Rescue[] = [];
  for (let at = 0; at + 3 < fields.length; at += 4) {
    const [ref = '', commit = '', type = '', message = ''] = fields.slice(at, at + 4);
    const rescue = type === 'commit' ? parseRescue(ref.trimStart(), commit, message) : undefined;
    if (rescue && (task === undefined || rescue.task === task)) rescues.push(rescue);
  }
  return rescues.toSorted((one, other) => one.at - other.at || (one.ref < other.ref ? -1 : 1));
}
