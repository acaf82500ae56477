import { availableParallelism } from 'node:os';

import { defineConfig } from 'vitest/config';

import { isLong } from './test/support/long.ts';
import { SlowestFirst } from './test/support/slowest-first.ts';

/** They start nothing and share nothing. */
const RULES = [
  'test/*/rules/**/*.test.ts',
  'test/config/**/*.test.ts',
  'test/operations/*.test.ts',
  'test/guards/!(check).test.ts',
];

/** They only compute. */
const SIMULATION = ['test/**/simulation{,-rest}.test.ts'];

/** They install and build copies of this clone, with the variables of the person who runs them. */
const CLONES = ['test/**/launcher.test.ts', 'test/**/check.test.ts'];

/** They replace functions of Node.js before the sources are loaded. */
const ALONE = ['test/queue/contract/merge/bring.test.ts'];

/** Slow ones with many real processes: for `npm run test:faults`, and for `npm test` with the name of a file or folder. */
const FAULTS = [
  'test/cli/contract/examples.test.ts',
  'test/clients/clients.test.ts',
  'test/cli/journeys/{demo-ends,launcher}.test.ts',
  'test/agents/faults/outliving.test.ts',
  'test/board/{contract/history,faults/processes,journeys/newer-board}.test.ts',
  'test/explain/journeys/notify.test.ts',
  'test/intake/journeys/{day,issues}.test.ts',
  'test/library/package.test.ts',
  'test/git/faults/{pipes,stores,stores-hostile,vectors}.test.ts',
  'test/machines/faults/{commands,leads,outage,random,term,way-to-server}.test.ts',
  'test/machines/journeys/{elsewhere,remote-away,stopped,travel}.test.ts',
  'test/orchestrator/faults/{clock,held-up,hostile,late,orchestrators,random,stopped}.test.ts',
  'test/orchestrator/journeys/{settings-landing,working-directory}.test.ts',
  'test/queue/contract/{checks-place,checks-processes,merge/random,merge/vectors,resolve-generated}.test.ts',
  'test/queue/faults/{error-told,landing-steps,promises-fair,promises-foreign,promises-order,random,set-aside,taken-back}.test.ts',
  'test/queue/journeys/undo-landing.test.ts',
  'test/review/{contract/forges,faults/pull-request-steps,journeys/pull-requests}.test.ts',
  'test/server/faults/output-crowd.test.ts',
  'test/workspaces/contract/pool/*.test.ts',
  'test/workspaces/faults/{crowd,damage,kill-operations,kill-steps,others,random,repositories,sweep/killed-and-hostile}.test.ts',
  'test/workspaces/journeys/{static-meanwhile,static-stopped}.test.ts',
];

/** They have a long version (test/support/long.ts); `npm run test:faults` runs these and those above, and nothing else. */
const LONG = [
  ...FAULTS,
  ...SIMULATION,
  ...CLONES,
  'test/cli/contract/{man-pages,wrong-inputs}.test.ts',
  'test/**/rescue-restore.test.ts',
  'test/machines/faults/{foreign-pushes,lost-leader}.test.ts',
  'test/server/faults/lives.test.ts',
];

const isNamed = process.argv.some((word) => /^(\.\/)?test(\/|$)/.test(word));
/** With `later`, `npm run test:faults` follows: what it runs at full length is left to it. */
const left = isLong || isNamed ? [] : process.env['COPSE_LONG'] === 'later' ? LONG : FAULTS;
const leaving = ['**/node_modules/**', ...left];

export default defineConfig({
  test: {
    sequence: { sequencer: SlowestFirst },
    pool: 'forks',
    setupFiles: ['test/support/quick-fork/at-start.ts'],
    // More than there are cores: most tests wait for processes that they started.
    maxWorkers: availableParallelism() + 2,
    // Nothing is to take as long; a machine that is busy with other things may.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    projects: [
      { extends: true, test: { name: 'rules', include: isLong ? [] : RULES, isolate: false } },
      { extends: true, test: { name: 'simulation', include: SIMULATION, exclude: leaving } },
      { extends: true, test: { name: 'clones', include: CLONES, exclude: leaving } },
      {
        extends: true,
        test: { name: 'alone', include: isLong ? [] : ALONE, setupFiles: ['test/support/at-end.ts'] },
      },
      {
        extends: true,
        test: {
          name: 'processes',
          include: isLong ? LONG : ['test/**/*.test.ts'],
          exclude: [...leaving, ...RULES, ...SIMULATION, ...CLONES, ...ALONE],
          // The sources are loaded once for all files that a process runs, not once for each.
          isolate: false,
          globalSetup: ['test/support/global-setup.ts'],
          setupFiles: ['test/support/at-end.ts'],
          // To start a process takes as long as what the starting one has in memory is large.
          execArgv: ['--max-semi-space-size=1', '--optimize-for-size'],
        },
      },
    ],
  },
});
