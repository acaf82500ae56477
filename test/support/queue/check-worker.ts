/** A process that runs one check, to be killed in the middle of it. */

import type { CheckRequest } from '../../../packages/copse/src/queue/ports/checks.ts';
import { checksAt } from './checks.ts';

const [root = '', request = '', setup = ''] = process.argv.slice(2);

const { signal } = new AbortController();
const checks = checksAt(root, setup === '' ? {} : { setup: [setup] });
console.log(JSON.stringify(await checks.run({ ...(JSON.parse(request) as CheckRequest), signal })));
