/** A process that leads a queue for one task and kills itself at the step it is told: `<repository> <task> <step or ->`. */

import { flushCompileCache } from 'node:module';

import { findRepository } from '../../../packages/copse/src/git/directory/locate.ts';
import { openMerging } from '../../../packages/copse/src/queue/merge/open.ts';
import { openTrustedDir } from '../../../packages/copse/src/git/directory/trusted-dir.ts';
import { lead } from '../../../packages/copse/src/queue/lead/leadership.ts';
import { leadQueue } from '../../../packages/copse/src/queue/lead/lead-queue.ts';
import { newQueueMemory } from '../../../packages/copse/src/queue/lead/memory.ts';
import { openRun } from '../../../packages/copse/src/compose/run/run.ts';
import { type TaskId, brand } from '../../../packages/copse/src/kernel/ids.ts';

const [cwd = '', task = '', step = '-'] = process.argv.slice(2);
flushCompileCache();
const opened = await openRun({ cwd, env: process.env }, { asNode: true });
const die = (reached: string) => void (reached === step && process.kill(process.pid, 'SIGKILL'));
// The same engine, but for what it does between two steps.
const merging = openMerging(openTrustedDir(findRepository(cwd)!), { onStep: die });
const context = { ...opened.context, merging };
const landing = (await context.board.openLandings()).find((one) => one.task === task);
if (landing !== undefined) {
  const news: unknown[] = [];
  await lead(context, landing.target, (lead) =>
    leadQueue(context, lead, {
      memory: newQueueMemory(context),
      signal: new AbortController().signal,
      only: new Set([brand<TaskId>(task)]),
      onLanded: (landed) => news.push(landed),
      onRejected: async (_, cause) => void news.push({ kind: 'conflicts', cause }),
      onNote: () => {},
      onStep: die,
    }),
  );
  process.stdout.write(JSON.stringify(news[0] ?? { kind: 'nothing' }));
}
await merging.close();
await opened.close();
