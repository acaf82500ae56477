/**
 * Commits that only a worktree knows: amended, reset, rebased or made on a detached HEAD. Git keeps them for as long as
 * the worktree's reflog exists; a rescue makes them its parents.
 */

import { objectsOf } from '../../../git/objects.ts';
import { git, gitLine, type TrustedDir } from '../../../git/process.ts';

export const RESCUE_REFS = 'refs/copse/rescue';

/** Ids by their spelling; what is missing or not a commit is left out. */
export async function existingCommits(
  dir: TrustedDir,
  spellings: readonly string[],
): Promise<ReadonlyMap<string, { readonly commit: string; readonly tree: string }>> {
  const found = new Map<string, { commit: string; tree: string }>();
  if (spellings.length === 0) return found;
  const answers = await objectsOf(dir).check(
    spellings.flatMap((text) => [`${text}^{commit}`, `${text}^{tree}`]),
  );
  spellings.forEach((text, at) => {
    const [commit, tree] = answers.slice(2 * at, 2 * at + 2);
    if (commit?.type === 'commit' && tree?.type === 'tree')
      found.set(text, { commit: commit.id, tree: tree.id });
  });
  return found;
}

export function idsIn(notes: Iterable<Buffer>, { objectFormat }: TrustedDir): readonly string[] {
  const pattern = objectFormat === 'sha256' ? /\b[0-9a-f]{64}\b/g : /\b[0-9a-f]{40}\b/g;
  const ids = new Set<string>();
  for (const note of notes) for (const [id] of note.toString('latin1').matchAll(pattern)) ids.add(id);
  return [...ids].filter((id) => !/^0+$/.test(id));
}

/** Of these commits and their ancestors, the tips of what neither a ref nor `head` reaches. Rescues do not count as refs. */
export async function unreferencedTips(
  dir: TrustedDir,
  commits: readonly string[],
  head: string | undefined,
): Promise<readonly string[]> {
  if (commits.length === 0) return [];
  const input = [...commits, ...(head === undefined ? [] : [`^${head}`])].join('\n');
  // A ref whose object is gone reaches nothing, and another agent can make one.
  const refs = ['--not', '--ignore-missing', `--exclude=${RESCUE_REFS}/*`, '--all'];
  const lines = (await git(dir, ['rev-list', '--parents', '--stdin', ...refs], { input: `${input}\n` }))
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(' '));
  const parents = new Set(lines.flatMap(([, ...ids]) => ids));
  return lines.flatMap(([id]) => (id === undefined || parents.has(id) ? [] : [id]));
}

interface SnapshotCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  readonly atMs: number;
}

/** Commits with very many parents are slow to read and refused by some tools. */
const MOST_PARENTS = 60;

export async function makeCommit(dir: TrustedDir, commit: SnapshotCommit): Promise<string> {
  const parents = [...commit.parents];
  while (parents.length > MOST_PARENTS) {
    const kept = parents.splice(-MOST_PARENTS);
    parents.push(await makeCommit(dir, { ...commit, parents: kept, message: 'Commits kept by a rescue\n' }));
  }
  const who = { NAME: 'Copse', EMAIL: 'copse@localhost', DATE: `@${Math.floor(commit.atMs / 1000)} +0000` };
  const env = Object.fromEntries(
    ['AUTHOR', 'COMMITTER'].flatMap((role) =>
      Object.entries(who).map(([key, value]) => [`GIT_${role}_${key}`, value]),
    ),
  );
  return gitLine(dir, ['commit-tree', commit.tree, ...parents.flatMap((id) => ['-p', id])], {
    env,
    input: commit.message,
  });
}
