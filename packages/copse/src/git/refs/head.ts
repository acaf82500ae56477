import path from 'node:path';

import { defaultPolicy } from '../../kernel/policy.ts';
import { type BranchName, type CommitId, brand } from '../../kernel/ids.ts';
import { readPlainFile } from '../../kernel/system/plain-file.ts';

interface CheckedOut {
  readonly branch: BranchName | null;
  readonly commit: CommitId | null;
}

const MOST_BYTES = defaultPolicy.worktreeFiles.headBytes;

/**
 * The branch or commit at HEAD of a git directory, or of a worktree's own. Both are null when HEAD is damaged, or is a link, a
 * pipe or the like.
 */
export function headOf(gitDir: string): CheckedOut {
  const found = readPlainFile(path.join(gitDir, 'HEAD'), MOST_BYTES);
  const text = found.kind === 'plain' && !found.value.isCut ? found.value.text.trimEnd() : '';
  const [, branch] = /^ref: refs\/heads\/(.+)$/.exec(text) ?? [];
  if (branch !== undefined) return { branch: brand(branch), commit: null };
  return { branch: null, commit: /^[0-9a-f]{40,64}$/.test(text) ? brand(text) : null };
}
