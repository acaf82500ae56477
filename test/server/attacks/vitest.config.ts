/** The attacks, on a server without the check that COPSE_WITHOUT names. The sources are edited as they are loaded. */

import path from 'node:path';

import { defineConfig } from 'vitest/config';

import { removedChecks } from './checks.ts';

const root = path.join(import.meta.dirname, '../../..');
const without = process.env['COPSE_WITHOUT'];
const removed = removedChecks.find(({ check }) => check === without);
if (without !== undefined && removed === undefined) throw new Error(`There is no check called ${without}`);

export default defineConfig({
  root,
  plugins: [
    {
      name: 'without-a-check',
      enforce: 'pre',
      transform(code, id) {
        const edits = (removed?.edits ?? []).filter(
          ({ file }) => id.split('?')[0] === path.join(root, 'packages/copse/src', file),
        );
        return edits.reduce((text, { find, put, file }) => {
          const parts = text.split(find);
          if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times: ${find}`);
          return parts.join(put);
        }, code);
      },
    },
  ],
  test: {
    include: (removed?.tests ?? ['faults/entry']).map((name) => `test/server/${name}.test.ts`),
    // Kept modules would be those of the check that was removed before.
    fsModuleCache: false,
    pool: 'forks',
    maxWorkers: 1,
    isolate: false,
    setupFiles: ['test/support/at-end.ts'],
    globalSetup: removed?.tests?.some((name) => name.startsWith('contract/'))
      ? ['test/support/global-setup.ts']
      : [],
    // An attack that succeeds may wait for ever; one that is refused takes milliseconds.
    testTimeout: removed?.isWithAgents === true ? 60_000 : 10_000,
    // A busy machine starts a server slowly.
    hookTimeout: 60_000,
    teardownTimeout: 2_000,
  },
});
