import { describe, expect, it } from 'vitest';

import { backoffMs } from '../../packages/copse/src/kernel/backoff.ts';

describe('backoff', () => {
  it('doubles with every failure up to the maximum', () => {
    const waits = [1, 2, 3, 4, 5, 1_000].map((failures) => backoffMs(failures, { firstMs: 10, mostMs: 70 }));
    expect(waits).toEqual([10, 20, 40, 70, 70, 70]);
  });

  it('stays zero if the first wait is zero, after any number of failures', () => {
    expect([1, 50, 5_000].map((failures) => backoffMs(failures, { firstMs: 0, mostMs: 70 }))).toEqual([
      0, 0, 0,
    ]);
  });
});
