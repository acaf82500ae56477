/**
 * Whole runs of the product's own code against a fake clock, fake git and scripted agents, with everything killed, stopped
 * and slowed down at will. The other half of the seeds is in simulation-rest.test.ts, so that two processes share them.
 *
 * COPSE_SEED=7 npm test -- test/simulation     one seed, with everything that happens in it
 * COPSE_SEEDS=200000 npm test -- test/simulation   more of them
 */

import { describe, expect, it } from 'vitest';

import { SEEDS, onlySeed, partOfSeeds, runSeeds } from './run-seeds.ts';
import { simulate } from './simulate.ts';

const HOUR_MS = 3_600_000;

/** So many seeds have seen every rare event. */
const ENOUGH_FOR_ALL = 800;

describe.runIf(onlySeed === undefined)('in a world where anything may be killed, stopped or late', () => {
  // promise: tokens-grow, stale-token-fenced, expired-lease-proves-nothing, crash-loses-nothing, retries-bounded, lands-once, lead-fenced, reviewed-change-lands
  it(
    'nothing is lost, lands twice, is done by two at once or hangs, with any seed',
    { timeout: HOUR_MS },
    async () => {
      const happened = await runSeeds(partOfSeeds(0, 2));
      expect([...happened.keys()]).toEqual(
        expect.arrayContaining(SEEDS >= ENOUGH_FOR_ALL ? [...everyThing, ...rare] : everyThing),
      );
    },
  );

  it('the same seed makes the same run', async () => {
    // From one line: a trace has the stacks of errors.
    const traces = [];
    for (let run = 0; run < 2; run += 1) traces.push((await simulate(11, { isTraced: true })).trace);
    expect(traces[0]?.length).toBeGreaterThan(100);
    expect(traces[1]).toEqual(traces[0]);
  });
});

it.runIf(onlySeed !== undefined)('the one seed that was asked for', { timeout: HOUR_MS }, async () => {
  const { trace, violations } = await simulate(onlySeed ?? 0, { isTraced: true });
  process.stdout.write(`${trace.join('\n')}\n`);
  expect(violations).toEqual([]);
});

/** What never happens is not tested: a simulation in which all goes well would find nothing. */
const everyThing = [
  'task.claimed',
  'task.crashed',
  'task.parked',
  'task.stuck',
  'task.restarted',
  'task.resumed',
  'task.paused',
  'task.cancelled',
  'task.deleted',
  'task.handed_back',
  'task.needs_attention',
  'task.sent_to_review',
  'task.promoted',
  'task.done',
  'session.misreported',
  'session.interrupted',
  'session.reopened',
  'landing.landed',
  'landing.conflicted',
  'workspace.kept',
  'workspace.released',
  'fenced',
];

/** A few times in a thousand runs. */
const rare = ['landing.waiting', 'landing.requeued', 'landing.withdrawn', 'workspace.used_again'];
