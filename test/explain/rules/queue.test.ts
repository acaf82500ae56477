/** What is said about a queue and what waits in it. */

import { describe, expect, it } from 'vitest';

import { stalledText, standingOn } from '../../../packages/copse/src/explain/rules/queue.ts';

describe('words about a queue', () => {
  const paused = { kind: 'paused', comment: 'release day' } as const;
  const busy = { kind: 'checkout_busy', checkout: '/r', detail: 'a rebase' } as const;

  it('name its branch beside the queue, not after the reason', () => {
    expect(standingOn({ kind: 'held', reason: paused }, 'main')).toBe(
      'waits: the queue of main is paused (release day)',
    );
    expect(standingOn({ kind: 'held', reason: busy }, 'main')).toBe(
      'waits: the checkout at /r is busy: a rebase',
    );
    expect(standingOn({ kind: 'stalled' }, 'main')).toBe('waits: the queue of main is stalled');
    expect(standingOn({ kind: 'no_checks' }, 'main')).toBe('lands within 5 s on main');
  });

  it('say once that it stalled', () => {
    const main = 'main';
    expect(stalledText({ id: main, reason: paused }, ' stalled')).toBe(
      'the queue of main is paused (release day)',
    );
    expect(stalledText({ id: main, reason: busy }, '')).toBe(
      'the queue of main: the checkout at /r is busy: a rebase',
    );
    expect(stalledText({ id: main, reason: busy }, ' stalled')).toMatch(/^the queue of main stalled: the ch/);
  });
});
