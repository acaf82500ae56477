/**
 * What ends with each test and with each file. Modules of this folder are shared by the files that run in one process, so an
 * `afterAll` of theirs would hold for the first file only; these are called for each (vitest.config.ts).
 */

import './quick-fork/at-start.ts';

import { afterAll, afterEach } from 'vitest';

import { restAll } from '../../packages/copse/src/git/long-lived-process.ts';
import { closeAll } from './close-at-end.ts';

// The gits that stand by end with the program, and this one runs hundreds of tests.
afterEach(restAll);
afterAll(async () => {
  await closeAll();
  await restAll();
});
