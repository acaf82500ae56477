/** What a server makes once, at its first use. */

import { expect, test } from 'vitest';

import { keptPromise } from '../../../packages/copse/src/server/kept-promise.ts';

test('it is made once, and again after it failed', async () => {
  let made = 0;
  const kept = keptPromise(() => {
    made += 1;
    return made < 3 ? Promise.reject(new Error(`failure ${made}`)) : Promise.resolve(made);
  });
  const together = await Promise.allSettled([kept(), kept()]);
  expect(together.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await expect(kept()).rejects.toThrow('failure 2');
  expect(await Promise.all([kept(), kept()])).toEqual([3, 3]);
  expect(made).toBe(3);
});
