/** A process that syncs a worktree and ends itself without warning at one step. */

import { flushCompileCache } from 'node:module';

import { findRepository } from '../../../packages/copse/src/git/directory/locate.ts';
import { openSync } from '../../../packages/copse/src/workspaces/git/sync/sync.ts';
import { openTrustedDir } from '../../../packages/copse/src/git/directory/trusted-dir.ts';
import { brand } from '../../../packages/copse/src/kernel/ids.ts';

const [repository = '', worktree = '', branch = '', commit = '', killAt = '', leave = ''] =
  process.argv.slice(2);

const found = findRepository(repository);
if (!found) throw new Error(`${repository} is no repository`);
flushCompileCache();
await openSync(openTrustedDir(found)).bring({
  task: brand('cp-0001'),
  worktree,
  branch: brand(branch),
  base: { branch: brand('main'), commit: brand(commit) },
  leaveConflict: leave === 'leave',
  onStep: (step) => {
    if (step === killAt) process.kill(process.pid, 'SIGKILL');
  },
});
