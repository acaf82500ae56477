/**
 * What is uncommitted, by two gits at once: `diff` also refreshes the index, and `ls-files -v` shows whether the index hides
 * anything. An index that hides edits (assume-unchanged bits, a sparse checkout) or cannot be used alone, and files that git
 * cannot read, are left to the slower way, which makes a careful copy of the index first.
 */

import { existsSync } from 'node:fs';
import path from 'node:path';

import type { CommitId } from '../../kernel/ids.ts';
import type { Uncommitted } from '../port.ts';
import { NOT_COPSES, copyWithTime } from '../private-index.ts';
import { type GitOptions, tryGitPair, type TrustedDir } from '../process.ts';
import { entries, utf8 } from '../output.ts';
import type { Place } from './place.ts';

const TAG_LENGTH = '? '.length;

/** `index` is where its copy of the index may be. Undefined when it cannot tell. */
export async function quickLook(
  dir: TrustedDir,
  { gitDir, worktree }: Pick<Place, 'gitDir' | 'worktree'>,
  index: string,
  head: CommitId,
): Promise<Uncommitted | undefined> {
  if (!existsSync(path.join(gitDir, 'index'))) return undefined;
  copyWithTime(path.join(gitDir, 'index'), index);
  const options: GitOptions = { index, workTree: worktree };
  const diff = ['diff', '--name-only', '-z', '--no-renames', '--no-ext-diff', '--no-textconv'];
  const list = ['ls-files', '-v', '-z', '--cached', '--others', ...NOT_COPSES];
  const looked = await tryGitPair(dir, [[...diff, '--ignore-submodules=dirty', head], list], options);
  // Git passes over what it cannot read, and complains.
  if (looked.code !== 0 || looked.stderr !== '') return undefined;
  const files = entries(looked.second);
  // `H`: nothing hides it; `M`: in conflict; `?`: untracked.
  if (files.some((file) => !/^[HM?] /.test(file))) return undefined;
  const untracked = files.filter((file) => file.startsWith('? '));
  return {
    changed: [...new Set(entries(looked.stdout).map(utf8))],
    untracked: untracked.map((file) => utf8(file.slice(TAG_LENGTH))),
    unreadable: [],
  };
}
