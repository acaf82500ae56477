/** What is said about a queue and what waits in it. */

import { describe, expect, it } from 'vitest';

import {
  redText,
  stalledText,
  standingOn,
  standingText,
} from '../../../packages/copse/src/explain/rules/queue.ts';
import { type BranchName, brand } from '../../../packages/copse/src/kernel/ids.ts';

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

  it('name the branch that fails its own checks', () => {
    const red = { kind: 'target_red' } as const;
    expect(standingOn({ kind: 'held', reason: red }, 'main')).toBe('waits: main itself fails its checks');
    const of = { name: 'unit', log: null };
    const slow = {
      ...red,
      target: brand<BranchName>('main'),
      failed: { ...of, fault: { kind: 'timeout', afterMs: 1_000 } },
    } as const;
    expect(stalledText({ id: 'main', reason: slow }, ' stalled')).toBe(
      'the queue of main stalled: on main itself, check "unit" timed out after 1 s',
    );
    const setup = { ...of, setup: 'npm ci', fault: { kind: 'exit', code: 1 } } as const;
    expect(standingText({ kind: 'held', reason: { ...slow, failed: setup } })).toBe(
      'waits: the set-up fails on main itself (exit code 1): npm ci',
    );
  });

  it('take a reason of an older board as it is', () => {
    const note = { kind: 'note', text: 'the queue is closed for the queue' } as const;
    expect(standingOn({ kind: 'held', reason: note }, 'main')).toBe(
      'waits: the queue is closed for the queue',
    );
  });
});

describe('why checks hand a change back', () => {
  const of = { name: 'unit', log: '/l', tail: '', command: 'test -f a\ntest -f b\n' };
  const main = { target: 'main' };
  const merged = 'on main merged with this branch';

  it.each([
    [{ kind: 'exit', code: 3 }, 'Check "unit" failed (exit code 3; retried once) '],
    [{ kind: 'timeout', afterMs: 5_000 }, 'Check "unit" timed out after 5 s (retried once) '],
    [{ kind: 'crash', signal: 'SIGSEGV' }, 'Check "unit" crashed with SIGSEGV (retried once) '],
    [
      { kind: 'missing', program: './failed' },
      'Check "unit" needs ./failed, which this commit does not have, ',
    ],
  ] as const)('%o', (fault, text) => {
    const red = redText(main, { isTimeout: false, failure: { ...of, fault } });
    expect(red).toBe(`${text}${merged}.\nThe check printed nothing. Its command: test -f a …`);
  });

  it('name the command of a set-up last', () => {
    const failure = { ...of, setup: 'npm ci failed', fault: { kind: 'exit', code: 1 } } as const;
    expect(redText(main, { isTimeout: false, failure }).split('\n')[0]).toBe(
      `The set-up failed (exit code 1; retried once) ${merged}: npm ci failed`,
    );
  });
});
