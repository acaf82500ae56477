/**
 * Refs with the commits that they point to. `for-each-ref` fails for all refs when the object of one is missing, and agents can
 * delete objects and write refs. So git lists only names and ids, and a ref without its commit is left out.
 */

import { type CommitId, brand } from '../../kernel/ids.ts';
import { knownObjectsOf, objectsOf, readable } from '../objects.ts';
import { type TrustedDir, git } from '../process.ts';

export interface RefWithCommit {
  readonly ref: string;
  readonly commit: CommitId;
  readonly message: string;
}

export async function listCommits(
  dir: TrustedDir,
  prefixes: readonly string[],
): Promise<readonly RefWithCommit[]> {
  const output = await git(dir, ['for-each-ref', '--format=%(objectname) %(refname)', ...prefixes]);
  const refs = output
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({ id: line.slice(0, line.indexOf(' ')), ref: line.slice(line.indexOf(' ') + 1) }));
  const facts = await objectsOf(dir).check(refs.map(({ id }) => id));
  const isCommit = refs.filter((_, at) => facts[at]?.type === 'commit');
  return Promise.all(
    isCommit.map(async ({ id, ref }) => {
      const commit = await knownObjectsOf(dir).commit(brand<CommitId>(id));
      return { ref, commit: commit.id, message: readable(commit, commit.message) };
    }),
  );
}
