/** How long a lease has been silent, as an orchestrator sees it. */

import { expect, it } from 'vitest';

import { LeaseAges } from '../../../packages/copse/src/agents/act/observe.ts';
import {
  type FencingToken,
  type TaskId,
  type Timestamp,
  brand,
} from '../../../packages/copse/src/kernel/ids.ts';

const task = brand<TaskId>('cp-1');
const token = 1 as FencingToken;
const LONGEST_MS = 5_000;

function look(ages: LeaseAges, atMs: number, renewedAt: number): number {
  ages.look(atMs, LONGEST_MS);
  return ages.of(task, token, renewedAt as Timestamp, atMs);
}

it('counts the time between looks, until the lease is renewed', () => {
  const ages = new LeaseAges();
  expect([0, 4_000, 9_000].map((at) => look(ages, at, 1))).toEqual([0, 4_000, 9_000]);
  expect(look(ages, 12_000, 2)).toBe(0);
});

it('does not count the time in which it could not look: the board was away for the runner too', () => {
  const ages = new LeaseAges();
  look(ages, 0, 1);
  expect(look(ages, 4_000, 1)).toBe(4_000);
  expect(look(ages, 94_000, 1)).toBe(4_000 + LONGEST_MS);
  expect(look(ages, 96_000, 1)).toBe(6_000 + LONGEST_MS);
});

it('judges a lease also when every look takes long', () => {
  const ages = new LeaseAges();
  const silent = Array.from({ length: 8 }, (_, pass) => look(ages, pass * 20_000, 1));
  expect(silent.at(-1)).toBe(7 * LONGEST_MS);
});
