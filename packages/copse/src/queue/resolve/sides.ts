/** Who is on the other side of a conflict. */

import { brand } from '../../kernel/ids.ts';
import type { CommitSummary, Ends } from '../ports/merging.ts';
import { git } from '../../git/process.ts';
import type { TrustedDir } from '../../git/directory/trusted-dir.ts';

/** As many as fit into one command. */
const MOST_FILES = 500;
const FIELDS = ['%H', '%P', '%s', '%b'] as const;

export async function listOtherSide(
  dir: TrustedDir,
  { onto, head }: Ends,
  files: readonly string[],
  limit: number,
): Promise<readonly CommitSummary[]> {
  if (files.length === 0) return [];
  const format = ['-z', `--format=${FIELDS.join('%x00')}`, '--encoding=UTF-8', '--no-show-signature'];
  const choice = [`--max-count=${limit}`, onto, `^${head}`, '--', ...files.slice(0, MOST_FILES)];
  const parts = (await git(dir, ['log', ...format, ...choice])).toString().split('\0');
  const commits: CommitSummary[] = [];
  for (let at = 0; at + FIELDS.length <= parts.length; at += FIELDS.length) {
    const [id = '', parents = '', subject = '', body = ''] = parts.slice(at, at + FIELDS.length);
    commits.push({ id: brand(id), subject, body: body.trimEnd(), isMerge: parents.includes(' ') });
  }
  return commits;
}
