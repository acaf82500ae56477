/** How long a lease or a lead has been silent, as an orchestrator sees it. */

import { describe, expect, it } from 'vitest';

import { LeaseAges } from '../../../packages/copse/src/agents/act/observe.ts';
import { LeadSilence, queueResource } from '../../../packages/copse/src/queue/lead/leadership.ts';
import {
  type BranchName,
  type FencingToken,
  type TaskId,
  type Timestamp,
  brand,
} from '../../../packages/copse/src/kernel/ids.ts';

const task = brand<TaskId>('cp-1');
const token = 1 as FencingToken;
const LONGEST_MS = 5_000;

function look(ages: LeaseAges, atMs: number, renewedAt: number): number {
  return ages.of(task, token, renewedAt as Timestamp, { nowMs: atMs, longestMs: LONGEST_MS });
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

describe('the silence of a lead', () => {
  const id = queueResource(brand<BranchName>('main'));
  const at = (nowMs: number) => ({ nowMs, longestMs: LONGEST_MS });

  // promise: lead-by-silence
  it('does not count an outage of the board, in which its leader could not renew either', () => {
    const silence = new LeadSilence();
    expect([0, 4_000, 94_000, 96_000].map((nowMs) => silence.see(id, token, at(nowMs)))).toEqual([
      0,
      4_000,
      4_000 + LONGEST_MS,
      6_000 + LONGEST_MS,
    ]);
  });

  it('begins again when the queue was empty at a look, and its leader had nothing to renew for', () => {
    const silence = new LeadSilence();
    silence.see(id, token, at(0));
    silence.see(id, token, at(4_000));
    silence.forgetAllBut(new Set());
    expect(silence.see(id, token, at(8_000))).toBe(0);
  });

  it('keeps the leads of this process, which it gives back when it stops', () => {
    const silence = new LeadSilence();
    silence.take(id, token, 0);
    silence.forgetAllBut(new Set());
    expect(silence.own).toEqual([{ id, token }]);
    expect(silence.sinceTaken(id, token, 60_000)).toBe(60_000);
  });
});
