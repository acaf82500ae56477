/** What pages say in one sentence, where it depends on what happened. */

import { describe, expect, test } from 'vitest';

import { Problem } from '../../../packages/web/src/api/problem.ts';
import { nextRead } from '../../../packages/web/src/pages/fleet/next-read.ts';
import { phaseText } from '../../../packages/web/src/pages/task/phase-text.ts';
import { entryRefusal } from '../../../packages/web/src/shell/entry-refusal.ts';
import { timestamp } from '../../../packages/copse/src/kernel/ids.ts';

describe('a person who is not let in', () => {
  test('hears of a code that was used only when the server said so', () => {
    const refused = new Problem({ code: 'unauthorized', status: 401, detail: 'No.' });
    expect(entryRefusal(refused)).toMatch(/^This code was used already, or is too old/);
    expect(entryRefusal(new Problem({ code: 'invalid', status: 429, detail: 'Too many tries.' }))).toBe(
      'Too many tries.',
    );
    expect(entryRefusal(new TypeError('Failed to fetch'))).toMatch(/^The server cannot be reached/);
  });
});

describe('when a source is read next', () => {
  const now = timestamp(Date.parse('2026-01-02T12:00:00Z'));
  const read = { syncedAt: '2026-01-02T11:58:00Z', intervalMs: 300_000, problem: null, rateLimit: null };

  test('is at the latest one interval after the last time', () => {
    expect(nextRead(read, now)).toStrictEqual({ kind: 'by', at: '2026-01-02T12:03:00.000Z' });
  });

  test('is overdue without an orchestrator', () => {
    const old = { ...read, syncedAt: '2026-01-02T11:00:00Z' };
    expect(nextRead(old, now)).toStrictEqual({ kind: 'overdue', at: '2026-01-02T11:05:00.000Z' });
    expect(nextRead({ ...read, syncedAt: null }, now)).toStrictEqual({ kind: 'first' });
  });

  test('is soon after a problem, and not before a rate limit ends', () => {
    expect(nextRead({ ...read, problem: 'no network' }, now)).toStrictEqual({ kind: 'retry' });
    const until = '2026-01-02T13:00:00Z';
    const limited = { ...read, problem: 'limited', rateLimit: { until } };
    expect(nextRead(limited, now)).toStrictEqual({ kind: 'after', at: until });
    expect(nextRead({ ...read, rateLimit: { until: '2026-01-02T11:59:00Z' } }, now).kind).toBe('by');
  });
});

describe('the phase of a task', () => {
  test('is what its agent reported, while it works', () => {
    expect(phaseText({ status: 'in_progress', phase: 'reviews_in_progress' })).toBe('reviews in progress');
    expect(phaseText({ status: 'in_progress', phase: 'registered' })).toBeNull();
    expect(phaseText({ status: 'done', phase: 'working' })).toBeNull();
    expect(phaseText({ status: 'ready', phase: null })).toBeNull();
  });
});
