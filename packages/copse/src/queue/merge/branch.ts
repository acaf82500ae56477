/** The commits of a branch that the target lacks. */

import { type CommitId, brand } from '../../kernel/ids.ts';
import {
  commitsOf,
  isReachable,
  parentsFirst,
  type Commit,
  type Objects,
  diffTrees,
} from '../../git/objects.ts';
import { type TrustedDir, git } from '../../git/process.ts';
import type { CommitSummary } from '../ports/merging.ts';

export interface Branch {
  readonly onto: CommitId;
  readonly head: CommitId;
  /** Parents before children. */
  readonly commits: readonly Commit[];
  /** No merges and no root commits: each commit follows the one before, the first one a commit of the target. */
  readonly isLinear: boolean;
  /** The tree before the first commit of a linear branch. */
  readonly before: string;
  /** No commit changes a file. */
  readonly isEmpty: boolean;
  /** Paths that its commits, without merges, change; one character per byte. */
  readonly own: ReadonlySet<string>;
}

export async function loadBranch(objects: Objects, onto: CommitId, head: CommitId): Promise<Branch> {
  await objects.lookAhead(head);
  const commits = (await commitsOf(objects, head, onto)) ?? (await commitsPlainly(objects, head, onto));
  const isLinear = commits.every(({ parents }) => parents.length === 1);
  const first = commits[0]?.parents[0];
  const before = isLinear && first !== undefined ? (await objects.commit(first)).tree : '';
  const isEmpty = isLinear && commits.every(({ tree }) => tree === before);
  const own = isEmpty ? new Set<string>() : await changedBy(objects, commits);
  return { onto, head, commits, isLinear, before, isEmpty, own };
}

async function commitsPlainly(objects: Objects, head: CommitId, onto: CommitId): Promise<readonly Commit[]> {
  const lines = (await objects.askGit(['rev-list', head, `^${onto}`])).toString().split('\n');
  const ids = lines.filter((line) => line !== '').map((line) => brand<CommitId>(line));
  const commits = await Promise.all(ids.map((id) => objects.commit(id)));
  return parentsFirst(head, new Map(commits.map((commit) => [commit.id, commit])));
}

async function changedBy(objects: Objects, commits: readonly Commit[]): Promise<ReadonlySet<string>> {
  const own = new Set<string>();
  const single = commits.filter(({ parents }) => parents.length < 2);
  await Promise.all(
    single.map(async ({ parents: [parent], tree }) => {
      const before = parent === undefined ? undefined : (await objects.commit(parent)).tree;
      for (const { path } of await diffTrees(objects, before, tree)) own.add(path);
    }),
  );
  return own;
}

/** Commits of the target that are parents of the branch's commits. */
export function outsideOf({ commits }: Branch): readonly CommitId[] {
  const ids = new Set(commits.map(({ id }) => id));
  return [...new Set(commits.flatMap(({ parents }) => parents).filter((parent) => !ids.has(parent)))];
}

/** The newest common commits of branch and target: several where each was merged into the other. */
export async function mergeBasesOf(objects: Objects, branch: Branch): Promise<readonly Commit[]> {
  const outside = outsideOf(branch);
  const bases: Commit[] = [];
  for (const one of outside) {
    const isOlder = await Promise.all(
      outside.map(async (other) => one !== other && (await isBefore(objects, one, other))),
    );
    if (!isOlder.includes(true)) bases.push(await objects.commit(one));
  }
  return bases;
}

async function isBefore(objects: Objects, one: CommitId, other: CommitId): Promise<boolean> {
  const known = await isReachable(objects, one, other);
  if (known !== undefined) return known;
  const onlyInOne = await objects.askGit(['rev-list', '--max-count=1', one, `^${other}`]);
  return onlyInOne.length === 0;
}

const FIELDS = ['%H', '%P', '%s', '%b'] as const;

/** Lists the commits that `git log` chooses by these arguments. */
export async function logCommits(
  dir: TrustedDir,
  choice: readonly string[],
): Promise<readonly CommitSummary[]> {
  const format = ['-z', `--format=${FIELDS.join('%x00')}`, '--encoding=UTF-8', '--no-show-signature'];
  const parts = (await git(dir, ['log', ...format, ...choice])).toString().split('\0');
  const commits: CommitSummary[] = [];
  for (let at = 0; at + FIELDS.length <= parts.length; at += FIELDS.length) {
    const [id = '', parents = '', subject = '', body = ''] = parts.slice(at, at + FIELDS.length);
    commits.push({ id: brand(id), subject, body: body.trimEnd(), isMerge: parents.includes(' ') });
  }
  return commits;
}
