/** What a branch has that the target does not. */

import { type CommitId, brand } from '../../domain/ids.ts';
import type { ObjectReader } from './long-lived.ts';
import { type Commit, readCommit } from './merging-commit.ts';
import { entries } from './private-index.ts';
import { git, gitLine } from './process.ts';
import type { TrustedDir } from './trusted-dir.ts';

export interface Branch {
  readonly onto: CommitId;
  readonly head: CommitId;
  /** Parents before children. */
  readonly commits: readonly Commit[];
  /** No merges, no beginnings of its own: each commit follows the one before, the first one a commit of the target. */
  readonly isLinear: boolean;
  /** The tree before the first of them, where they are linear. */
  readonly before: string;
  /** Every commit is without a change. */
  readonly isEmpty: boolean;
  /** Paths that its commits change, merges apart; one character per byte. */
  readonly own: ReadonlySet<string>;
}

export async function loadBranch(
  dir: TrustedDir,
  reader: ObjectReader,
  onto: CommitId,
  head: CommitId,
): Promise<Branch> {
  const argv = ['rev-list', '--topo-order', '--reverse', '--parents', head, `^${onto}`];
  const lines = (await gitLine(dir, argv)).split('\n').filter((line) => line !== '');
  const commits: Commit[] = [];
  for (const line of lines) {
    const [id = '', ...parents] = line.split(' ').map((name) => brand<CommitId>(name));
    commits.push(await readCommit(reader, brand(id), parents));
  }
  const isLinear = commits.every(({ parents }) => parents.length === 1);
  const first = commits[0]?.parents[0];
  const before = isLinear && first !== undefined ? (await readCommit(reader, first)).tree : '';
  const isEmpty = isLinear && commits.every(({ tree }) => tree === before);
  const own = isEmpty ? new Set<string>() : await changedBy(dir, commits);
  return { onto, head, commits, isLinear, before, isEmpty, own };
}

async function changedBy(dir: TrustedDir, commits: readonly Commit[]): Promise<ReadonlySet<string>> {
  const ids = commits.filter(({ parents }) => parents.length < 2).map(({ id }) => `${id}\n`);
  const argv = ['diff-tree', '--stdin', '--root', '--no-commit-id', ...NAMES];
  return new Set(entries(await git(dir, argv, { input: ids.join('') })));
}

/** A moved submodule counts, whatever `.gitmodules` says. */
const NAMES = ['-r', '-z', '--name-only', '--no-renames', '--ignore-submodules=none'] as const;

export async function differing(dir: TrustedDir, one: string, other: string): Promise<readonly string[]> {
  return one === other ? [] : entries(await git(dir, ['diff-tree', ...NAMES, one, other]));
}
