/** A process that leads a queue for one task and kills itself at the step it is told: `<repository> <task> <step or ->`. */

import { flushCompileCache } from 'node:module';

import { landOne } from './landing.ts';

const [cwd = '', task = '', step = '-'] = process.argv.slice(2);
flushCompileCache();
const landed = await landOne({
  cwd,
  env: process.env,
  task,
  onStep: (reached) => void (reached === step && process.kill(process.pid, 'SIGKILL')),
});
if (landed !== undefined) process.stdout.write(JSON.stringify(landed));
