import { availableParallelism } from 'node:os';

import { defineConfig } from 'vitest/config';

import { SlowestFirst } from './test/support/slowest-first.ts';

/** They start nothing and share nothing, so that few processes can do them all. */
const DECISIONS = ['test/*/rules/**/*.test.ts', 'test/config/**/*.test.ts', 'test/operations/**/*.test.ts'];

/** They only compute. */
const SIMULATION = ['test/simulation/simulation*.test.ts'];

export default defineConfig({
  test: {
    sequence: { sequencer: SlowestFirst },
    pool: 'forks',
    // More than there are cores: most tests wait for processes that they started.
    maxWorkers: availableParallelism() + 1,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      { extends: true, test: { name: 'decisions', include: DECISIONS, isolate: false } },
      { extends: true, test: { name: 'simulation', include: SIMULATION } },
      {
        extends: true,
        test: {
          name: 'processes',
          include: ['test/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...DECISIONS, ...SIMULATION],
          globalSetup: ['test/support/global-setup.ts'],
          // To start a process takes as long as what the starting one has in memory is large.
          execArgv: ['--max-semi-space-size=1', '--optimize-for-size'],
        },
      },
    ],
  },
});
