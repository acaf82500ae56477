/** A process that leads a queue for one task and kills itself at the step it is told: `<repository> <task> <step or ->`. */

import { flushCompileCache } from 'node:module';

import { lead } from '../../packages/copse/src/app/lead.ts';
import { leadQueue } from '../../packages/copse/src/app/queue.ts';
import { newQueueMemory } from '../../packages/copse/src/app/queue-memory.ts';
import { openRun } from '../../packages/copse/src/compose/run.ts';
import { type TaskId, brand } from '../../packages/copse/src/domain/ids.ts';

const [cwd = '', task = '', step = '-'] = process.argv.slice(2);
flushCompileCache();
const opened = await openRun({ cwd, env: process.env }, { asNode: true });
const { context } = opened;
const landing = (await context.board.openLandings()).find((one) => one.task === task);
if (landing !== undefined) {
  const news: unknown[] = [];
  await lead(context, landing.target, (lead) =>
    leadQueue(context, lead, {
      memory: newQueueMemory(context),
      signal: new AbortController().signal,
      only: new Set([brand<TaskId>(task)]),
      onLanded: (landed) => news.push(landed),
      onBlame: async (_, cause) => void news.push({ landing: 'conflicts', cause }),
      onNote: () => {},
      onStep: (reached) => void (reached === step && process.kill(process.pid, 'SIGKILL')),
    }),
  );
  process.stdout.write(JSON.stringify(news[0] ?? { landing: 'nothing' }));
}
await opened.close();
