/** Runs of checks, as the leader of a queue sees them. */

import { expect, test } from 'vitest';

import { type BranchName, type CommitId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { CheckRuns, requiredChecks } from '../../../packages/copse/src/queue/lead/checks.ts';
import { newArea } from '../../support/cli.ts';
import { QueueScene } from '../../support/queue/queue-scene.ts';

const area = newArea();

test('are not idle before the end of the last one was looked at', async () => {
  await using scene = new QueueScene(area, 'ended');
  const context = await scene.open();
  const ended = Promise.withResolvers<void>();
  const runs = new CheckRuns(context, brand<BranchName>('main'), {
    required: requiredChecks(context),
    failures: new Map(),
    onEnd: ended.resolve,
  });
  const commit = brand<CommitId>(scene.headOf('main'));
  runs.start({ run: 1, slot: 1, commit, tree: scene.treeOf(commit) });
  await ended.promise;
  expect([runs.wanted, runs.isIdle]).toEqual([[], false]);
  expect(runs.takeEnded()).toMatchObject([{ run: 1, verdict: 'green' }]);
  expect(runs.isIdle).toBe(true);
});
