import path from 'node:path';

import { type BranchName, type CommitId, brand } from '../../kernel/ids.ts';
import { readIfThere } from '../../kernel/system/read-if-there.ts';

interface Head {
  readonly branch: BranchName | null;
  readonly commit: CommitId | null;
}

/** What a git directory, or that of a worktree, has checked out. */
export function headOf(gitDir: string): Head {
  const text = readIfThere(path.join(gitDir, 'HEAD'))?.trimEnd() ?? '';
  const [, branch] = /^ref: refs\/heads\/(.+)$/.exec(text) ?? [];
  if (branch !== undefined) return { branch: brand(branch), commit: null };
  return { branch: null, commit: /^[0-9a-f]{40,64}$/.test(text) ? brand(text) : null };
}
