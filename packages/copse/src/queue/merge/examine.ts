/**
 * What `git fsck` says about the commits and trees of branches that the target lacks. They are packed as for a push and read as a
 * server reads what it is sent, into a folder that is deleted. The contents of files are left out: fitness.ts sees whether they
 * are there.
 */

import { mkdirSync } from 'node:fs';
import path from 'node:path';

import { defaultPolicy } from '../../kernel/policy.ts';
import type { CommitId } from '../../kernel/ids.ts';
import { type GitOptions, type GitResult, tryGit, type TrustedDir } from '../../git/process.ts';
import { withScratch } from '../../git/worktrees/place.ts';
import { RecentCache } from '../../kernel/recent-cache.ts';

const TIMEOUT_MS = defaultPolicy.examination.timeoutMs;
const MOST_KNOWN = defaultPolicy.examination.remembered;
const MOST_BYTES = defaultPolicy.examination.bytes;

export class Examiner {
  readonly #dir: TrustedDir;
  readonly #sound = new RecentCache<CommitId, true>(MOST_KNOWN);

  constructor(dir: TrustedDir) {
    this.#dir = dir;
  }

  /** What is wrong, by head. All together first: almost always nothing is. */
  async examine(onto: CommitId, heads: readonly CommitId[]): Promise<ReadonlyMap<CommitId, string>> {
    const fresh = [...new Set(heads)].filter((head) => this.#sound.get(head) === undefined);
    const problems = new Map<CommitId, string>();
    if (fresh.length === 0) return problems;
    if ((await this.#problem(onto, fresh)) !== null)
      for (const head of fresh) {
        const problem = await this.#problem(onto, [head]);
        if (problem !== null) problems.set(head, problem);
      }
    for (const head of fresh) if (!problems.has(head)) this.#sound.set(head, true);
    return problems;
  }

  async #problem(onto: CommitId, heads: readonly CommitId[]): Promise<string | null> {
    const packed = await tryGit(
      this.#dir,
      ['pack-objects', '-q', '--revs', '--stdout', '--filter=blob:none', '--window=0'],
      { input: `${heads.join('\n')}\n^${onto}\n`, timeoutMs: TIMEOUT_MS },
    );
    if (packed.code !== 0) return said(packed);
    return withScratch(this.#dir, async (scratch) => {
      const objects = path.join(scratch, 'objects');
      mkdirSync(path.join(objects, 'pack'), { recursive: true });
      const options: GitOptions = {
        input: packed.stdout,
        timeoutMs: TIMEOUT_MS,
        env: {
          GIT_OBJECT_DIRECTORY: objects,
          GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(path.join(this.#dir.commonDir, 'objects')),
        },
      };
      const argv = ['index-pack', '--stdin', '--fsck-objects', `--max-input-size=${MOST_BYTES}`];
      const read = await tryGit(this.#dir, argv, options);
      return read.code === 0 ? null : said(read);
    });
  }
}

/** What git found, without what follows from it. */
function said({ stderr }: GitResult): string {
  const lines = stderr.split('\n').map((line) => line.trim());
  const errors = lines.filter((line) => line.startsWith('error: '));
  const chosen = errors.length > 0 ? errors : lines.filter((line) => line !== '');
  return chosen.map((line) => line.replace(/^(?:error|fatal): /, '')).join('\n');
}
