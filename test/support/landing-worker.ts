/** A process that lands a task and kills itself at the step it is told: `<repository> <task> <step or ->`. */

import { flushCompileCache } from 'node:module';

import { landOne } from '../../packages/copse/src/app/land.ts';
import { lead } from '../../packages/copse/src/app/lead.ts';
import { openRun } from '../../packages/copse/src/compose/run.ts';

const [cwd = '', task = '', step = '-'] = process.argv.slice(2);
flushCompileCache();
const opened = await openRun({ cwd, env: process.env }, { asNode: true });
const { context } = opened;
const landing = (await context.board.openLandings()).find((one) => one.task === task);
if (landing !== undefined) {
  const done = await lead(context, landing.target, (lead) =>
    landOne(context, lead, landing, {
      onStep: (reached) => void (reached === step && process.kill(process.pid, 'SIGKILL')),
    }),
  );
  process.stdout.write(JSON.stringify(done?.value ?? { landing: 'led elsewhere' }));
}
await opened.close();
