/** The events that a server keeps in memory for its clients. */

import { expect, test } from 'vitest';

import { RecentEvents } from '../../../packages/copse/src/server/events/recent-events.ts';

function filled(limits: { recentEvents: number; recentBytes: number }, sizes: readonly number[]) {
  const recent = new RecentEvents(limits);
  for (const [index, size] of sizes.entries())
    recent.push({ cursor: { term: 1, number: index + 1 }, json: 'x'.repeat(size) });
  const kept = (after: number) => recent.after(after)?.map(({ cursor }) => cursor.number);
  return { kept, last: sizes.length };
}

test('keep a limited number, and have no gap', () => {
  const { kept } = filled({ recentEvents: 4, recentBytes: 1_000 }, [1, 1, 1, 1, 1, 1]);
  expect(kept(2)).toBeUndefined();
  expect(kept(3)).toEqual([4, 5, 6]);
  expect(kept(6)).toEqual([]);
});

test('keep a limited size, whatever agents write', () => {
  const { kept } = filled({ recentEvents: 1_000, recentBytes: 100 }, [10, 90, 30, 40, 20, 20]);
  expect(kept(3)).toBeUndefined();
  expect(kept(4)).toEqual([5, 6]);
});

test('keep none that is too large alone; the board still has it', () => {
  const { kept } = filled({ recentEvents: 10, recentBytes: 100 }, [10, 101]);
  expect(kept(1)).toBeUndefined();
});

test('a thousand large events take no more memory than the limit', () => {
  const limits = { recentEvents: 2_000, recentBytes: 1_000 };
  const { kept, last } = filled(
    limits,
    Array.from({ length: 1_000 }, (_, index) => (index % 7) * 50),
  );
  let after = last;
  while (kept(after - 1) !== undefined) after -= 1;
  expect((kept(after) ?? []).length).toBeLessThan(20);
  expect(kept(after)).toEqual(Array.from({ length: last - after }, (_, index) => after + index + 1));
});
