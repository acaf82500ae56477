/** A process that uses the pool once and, if told so, is killed right after a step. */

import { mkdirSync, renameSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import path from 'node:path';

import { tryFileLock, withFileLock } from '../../../../packages/copse/src/git/lock.ts';
import { openPool } from '../../../../packages/copse/src/workspaces/git/pool/pool.ts';
import { filesOf } from '../../../../packages/copse/src/git/refs/refs.ts';
import { openTrustedDir } from '../../../../packages/copse/src/git/directory/trusted-dir.ts';
import { type CommitId, brand } from '../../../../packages/copse/src/kernel/ids.ts';
import type { Leftover, Pool } from '../../../../packages/copse/src/workspaces/ports/pool.ts';

export interface PoolJob {
  readonly repository: string;
  readonly trash: string;
  readonly do:
    | { readonly take: string; readonly tip: string }
    | { readonly refill: number; readonly base: string }
    | { readonly recycle: string; readonly base: string };
  readonly killAfter?: string;
}

export function poolOf(
  { repository, trash }: Pick<PoolJob, 'repository' | 'trash'>,
  onStep: (step: string) => void = () => {},
): Pool {
  const dir = openTrustedDir({ commonDir: path.join(repository, '.git'), home: repository });
  const lock = (name: string) => path.join(repository, '.copse', 'locks', name);
  return openPool(dir, {
    folder: path.join(repository, '.worktrees', '.pool'),
    withLock: (work) => withFileLock(lock('worktrees'), 60_000, work),
    tryLock: (name, work) => tryFileLock(lock(name), work),
    discard: (leftover) => putAside(trash, leftover),
    onStep,
  });
}

let aside = 0;

async function putAside(trash: string, { path: files, gitDir, why }: Leftover): Promise<void> {
  aside += 1;
  const folder = path.join(trash, `${process.pid}-${aside} ${why}`);
  mkdirSync(folder, { recursive: true });
  if (files !== null) renameSync(files, path.join(folder, 'files'));
  if (gitDir !== null) renameSync(gitDir, path.join(folder, 'gitdir'));
}

export async function doJob(job: PoolJob): Promise<unknown> {
  const pool = poolOf(job, (step) => {
    if (step === job.killAfter) process.kill(process.pid, 'SIGKILL');
  });
  if ('take' in job.do) {
    const { take: name, tip } = job.do;
    const worktree = path.join(job.repository, '.worktrees', name);
    return pool.take({ path: worktree, name, branch: brand(name), tip: brand(tip) });
  }
  if ('refill' in job.do) return pool.refill(job.do.refill, brand(job.do.base));
  const base = brand<CommitId>(job.do.base);
  const dir = openTrustedDir({ commonDir: path.join(job.repository, '.git'), home: job.repository });
  return pool.recycle(job.do.recycle, base, await filesOf(dir, base));
}

const [, , text] = process.argv;
if (import.meta.main && text !== undefined) {
  // The only chance of those that are killed.
  flushCompileCache();
  process.stdout.write(JSON.stringify(await doJob(JSON.parse(text) as PoolJob)));
}
