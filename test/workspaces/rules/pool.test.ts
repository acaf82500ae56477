import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { type PoolFacts, decidePoolSize } from '../../../packages/copse/src/workspaces/rules/pool.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';

const GIGABYTE = 1024 ** 3;
const large: PoolFacts = {
  trackedFiles: 60_000,
  trackedBytes: 300_000_000,
  freeDiskBytes: 100 * GIGABYTE,
  allocationsLastHour: 8,
  maxAgents: 4,
  ready: 0,
};

const cases: readonly [string, Partial<PoolFacts>, 'auto' | number, number][] = [
  ['covers a quarter of an hour of what was needed', {}, 'auto', 2],
  ['is off in a small repository', { trackedFiles: 1_999 }, 'auto', 0],
  ['is on in a small repository when a person asks', { trackedFiles: 10 }, 3, 3],
  ['is off when nothing is being started', { allocationsLastHour: 0 }, 'auto', 0],
  ['has one entry for one task in an hour', { allocationsLastHour: 1 }, 'auto', 1],
  ['is never larger than the number of agents', { allocationsLastHour: 500 }, 'auto', 4],
  ['has a limit however many agents there are', { allocationsLastHour: 500, maxAgents: 99 }, 'auto', 8],
  ['is 0 when a person says so', {}, 0, 0],
  ['is empty below the floor of free disk', { freeDiskBytes: GIGABYTE }, 5, 0],
  ['takes a share of the disk at most', { freeDiskBytes: 7 * GIGABYTE }, 100, 2],
  ['gives entries back when the disk fills up', { freeDiskBytes: 1.9 * GIGABYTE, ready: 4 }, 4, 3],
];

describe('the size of the pool', () => {
  it.each(cases)('%s', (_, facts, setting, size) => {
    expect(decidePoolSize({ ...large, ...facts }, setting, defaultPolicy).size).toBe(size);
  });

  it('has a reason', () => {
    expect(decidePoolSize({ ...large, freeDiskBytes: 0 }, 2, defaultPolicy).reason).toBe(
      'workspace.pool asks for 2, but the disk has room for 0',
    );
  });

  it('never makes entries that would leave less disk than sessions need', () => {
    const facts = fc.record({
      trackedFiles: fc.nat(200_000),
      trackedBytes: fc.nat(5 * GIGABYTE),
      freeDiskBytes: fc.nat(50 * GIGABYTE),
      allocationsLastHour: fc.nat(1_000),
      maxAgents: fc.integer({ min: 1, max: 64 }),
      ready: fc.nat(20),
    });
    const setting = fc.oneof(fc.constant('auto' as const), fc.nat(100));
    fc.assert(
      fc.property(facts, setting, (facts, setting) => {
        const { size } = decidePoolSize(facts, setting, defaultPolicy);
        const made = Math.max(0, size - facts.ready) * facts.trackedBytes;
        const floor = Math.min(facts.freeDiskBytes, defaultPolicy.orchestration.minFreeDiskBytes);
        expect(Number.isInteger(size) && size >= 0).toBe(true);
        expect(facts.freeDiskBytes - made).toBeGreaterThanOrEqual(floor);
      }),
    );
  });
});
