import path from 'node:path';

import { type BranchName, type CommitId, brand } from '../../kernel/ids.ts';
import { readIfPlain } from '../../kernel/system/plain-file.ts';

interface CheckedOut {
  readonly branch: BranchName | null;
  readonly commit: CommitId | null;
}

/** The branch or commit at HEAD of a git directory, or of a worktree's own. Both are null when HEAD is damaged. */
export function headOf(gitDir: string): CheckedOut {
  const text = readIfPlain(path.join(gitDir, 'HEAD'))?.trimEnd() ?? '';
  const [, branch] = /^ref: refs\/heads\/(.+)$/.exec(text) ?? [];
  if (branch !== undefined) return { branch: brand(branch), commit: null };
  return { branch: null, commit: /^[0-9a-f]{40,64}$/.test(text) ? brand(text) : null };
}
