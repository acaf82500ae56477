/** A process that looks at one pull request and kills itself at the step it is told: `<repository> <task> <step or ->`. */

import { flushCompileCache } from 'node:module';

import { attendPullRequest } from '../../../packages/copse/src/review/act/pull-request-follow.ts';
import { openRun } from '../../../packages/copse/src/compose/run/run.ts';
import { type TaskId, brand } from '../../../packages/copse/src/kernel/ids.ts';

const [cwd = '', task = '', step = '-'] = process.argv.slice(2);
flushCompileCache();
const opened = await openRun({ cwd, env: process.env }, { asNode: true });
const attended = await attendPullRequest(opened.context, brand<TaskId>(task), (reached) => {
  if (reached === step) process.kill(process.pid, 'SIGKILL');
});
process.stdout.write(JSON.stringify(attended));
await opened.close();
