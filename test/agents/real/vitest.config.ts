import { availableParallelism } from 'node:os';

import { defineConfig } from 'vitest/config';

import { SlowestFirst } from '../../support/slowest-first.ts';

export default defineConfig({
  test: {
    // The sandbox is one of the programs.
    include: ['test/agents/real/**/*.agents.ts', 'test/agents/faults/sandbox*.test.ts'],
    env: { COPSE_TEST_SANDBOX: 'required' },
    setupFiles: ['test/support/at-end.ts'],
    sequence: { sequencer: SlowestFirst },
    pool: 'forks',
    // Real programs wait for the model, for an answer and for their own end.
    maxWorkers: availableParallelism() + 3,
    reporters: ['default', './scripts/summary-reporter.ts'],
    testTimeout: 240_000,
    hookTimeout: 60_000,
  },
});
