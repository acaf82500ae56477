/** Finds the base branch from git's files, in the order in which `detectBase` asks git. */

import path from 'node:path';

import { type BranchName, brand } from '../../kernel/ids.ts';
import { acceptedHead, remoteHeadOf } from '../accepted/record.ts';
import { openTips } from './branch-tip.ts';
import { headOf } from './head.ts';
import type { TrustedDir } from '../process.ts';
import { stampOfFile } from '../directory/trusted-dir.ts';

/** Null when the files do not tell; then the caller asks git. */
export function baseByFiles({ commonDir, remembered }: TrustedDir): BranchName | null {
  // The default remote may have changed.
  if (stampOfFile(path.join(commonDir, 'config')) !== remembered.config) return null;
  const { remote, defaultBranch } = remembered;
  const tipOf = openTips(commonDir);
  const prefix = `refs/remotes/${remote}/`;
  const named =
    remote === null ? undefined : acceptedHead(commonDir, remote, remoteHeadOf(commonDir, remote));
  for (const branch of [named, defaultBranch, 'main', 'master', headOf(commonDir).branch]) {
    if (!branch || branch.includes('\n')) continue;
    const tips = [tipOf(`refs/heads/${branch}`), ...(remote === null ? [] : [tipOf(`${prefix}${branch}`)])];
    if (tips.includes(null)) return null;
    if (tips.some((tip) => tip !== undefined)) return brand(branch);
  }
  return null;
}
