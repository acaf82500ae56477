import { describe, expect, it } from 'vitest';

import { backoffMs } from '../../packages/copse/src/kernel/backoff.ts';

describe('backoff', () => {
  it('doubles with every failure up to the most', () => {
    const waits = [1, 2, 3, 4, 5, 1_000].map((failures) => backoffMs(failures, { firstMs: 10, mostMs: 70 }));
    expect(waits).toEqual([10, 20, 40, 70, 70, 70]);
  });

  it('stays zero where the first wait is zero, however many failures there were', () => {
    expect([1, 50, 5_000].map((failures) => backoffMs(failures, { firstMs: 0, mostMs: 70 }))).toEqual([
      0, 0, 0,
    ]);
  });
});
