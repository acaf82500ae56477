/** A process that moves a target, and either ends itself without warning at one step or says what came of it. */

import { flushCompileCache } from 'node:module';

import { findRepository } from '../../../packages/copse/src/git/directory/locate.ts';
import { openMerging } from '../../../packages/copse/src/queue/merge/open.ts';
import { openTrustedDir } from '../../../packages/copse/src/git/directory/trusted-dir.ts';
import { type BranchName, type CommitId, brand } from '../../../packages/copse/src/kernel/ids.ts';

const [repository = '', from = '', to = '', killAt = ''] = process.argv.slice(2);

const found = findRepository(repository);
if (!found) throw new Error(`${repository} is no repository`);
flushCompileCache();
const merging = openMerging(openTrustedDir(found), {
  onStep: (step) => {
    if (step === killAt) process.kill(process.pid, 'SIGKILL');
  },
});
const request = {
  target: brand<BranchName>('main'),
  from: brand<CommitId>(from),
  to: brand<CommitId>(to),
  reason: 'test',
};
const outcome = await merging.moveTarget(request);
await merging.close();
console.log(JSON.stringify(outcome));
