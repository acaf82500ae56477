/**
 * A process that leads queues, one after another: each line of its input is a repository. It says `done` once nothing is left
 * to do there. Killed at any moment, another one goes on.
 */

import { createInterface } from 'node:readline';
import { flushCompileCache } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';

import { giveUpLanding } from '../../../packages/copse/src/queue/lead/hand-back.ts';
import { lead } from '../../../packages/copse/src/queue/lead/leadership.ts';
import { leadQueue } from '../../../packages/copse/src/queue/lead/lead-queue.ts';
import { newQueueMemory } from '../../../packages/copse/src/queue/lead/memory.ts';
import { openRun } from '../../../packages/copse/src/compose/run/run.ts';
import { type BranchName, brand } from '../../../packages/copse/src/kernel/ids.ts';

process.stdout.write('ready\n');
for await (const cwd of createInterface({ input: process.stdin })) {
  const opened = await openRun({ cwd, env: process.env }, { asNode: true });
  const { context } = opened;
  process.stdout.write('leading\n');
  while ((await context.board.openLandings()).length > 0) {
    const led = await lead(context, brand<BranchName>('main'), (lead) =>
      leadQueue(context, lead, {
        memory: newQueueMemory(context),
        signal: new AbortController().signal,
        onLanded: () => {},
        onRejected: async (landing, cause) => void (await giveUpLanding(context, landing, cause)),
        onNote: (note) => process.stderr.write(`${note}\n`),
      }),
    );
    // Somebody else leads.
    if (led === undefined) await sleep(20);
  }
  await opened.close();
  // Here and not earlier: only what has run by now is in it, and what is in it is never added to.
  flushCompileCache();
  process.stdout.write('done\n');
}
