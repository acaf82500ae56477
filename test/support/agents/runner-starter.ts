/** Stands in for an orchestrator: starts one runner, says so, and waits to be killed. */

import { processesOfAttempt } from '../../../packages/copse/src/processes/end.ts';
import { openRunners } from '../../../packages/copse/src/agents/files/runners.ts';
import type { Orders } from '../../../packages/copse/src/agents/ports/runners.ts';

const [, , home = '', program = '', orders = ''] = process.argv;
const runners = openRunners({
  home,
  program: [process.execPath, program],
  environment: process.env,
  processesOf: processesOfAttempt,
});
await runners.start(JSON.parse(orders) as Orders);
console.log('started');
if (process.env['STAY'] !== undefined) setInterval(() => {}, 1_000);
