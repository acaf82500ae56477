/** The other half of the seeds of simulation.test.ts. */

import { expect, it } from 'vitest';

import { SEEDS, onlySeed, partOfSeeds, runSeeds } from './run-seeds.ts';

const HOUR_MS = 3_600_000;

it.runIf(onlySeed === undefined)(
  'nothing is lost, lands twice, is done by two at once or hangs, with any seed',
  { timeout: HOUR_MS },
  async () => {
    const happened = await runSeeds(partOfSeeds(1, 2));
    expect(happened.get('landing.landed')).toBeGreaterThan(SEEDS / 2);
  },
);
