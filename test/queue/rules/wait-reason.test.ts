import { describe, expect, it } from 'vitest';

import { waitText } from '../../../packages/copse/src/explain/rules/queue.ts';
import {
  type BranchName,
  type CommitId,
  type NodeId,
  type TaskId,
  brand,
  timestamp,
} from '../../../packages/copse/src/kernel/ids.ts';
import { type Landing, evolveLanding, readLanding } from '../../../packages/copse/src/queue/rules/landing.ts';
import {
  type MergeQueue,
  evolveQueue,
  newQueue,
  readQueue,
} from '../../../packages/copse/src/queue/rules/merge-queue.ts';
import { type WaitReason, isSameWait } from '../../../packages/copse/src/queue/rules/wait-reason.ts';

const main = brand<BranchName>('main');

/** The compiler sees to it that no reason is missing. */
const sentences: { readonly [K in WaitReason['kind']]: readonly [Extract<WaitReason, { kind: K }>, string] } =
  {
    dependency: [
      { kind: 'dependency', task: brand<TaskId>('cp-d'), status: 'pending' },
      'it depends on cp-d, which is pending',
    ],
    not_accepted: [{ kind: 'not_accepted', comment: null }, 'the queue accepts no new tasks'],
    paused: [{ kind: 'paused', comment: 'release day' }, 'the queue is paused (release day)'],
    checkout_changed: [
      { kind: 'checkout_changed', checkout: '/x', files: ['a.txt', 'b.txt'] },
      'the checkout at /x has uncommitted changes in a.txt and 1 more',
    ],
    checkout_busy: [
      { kind: 'checkout_busy', checkout: '/x', detail: 'a rebase is not finished' },
      'the checkout at /x is busy: a rebase is not finished',
    ],
    push_failed: [
      { kind: 'push_failed', target: main, detail: 'protected' },
      'main could not be pushed: protected',
    ],
    remote_unreachable: [
      { kind: 'remote_unreachable', detail: 'timeout' },
      'the remote cannot be reached: timeout',
    ],
    head_missing: [
      {
        kind: 'head_missing',
        head: brand<CommitId>('0123456789abcdef'),
        node: brand<NodeId>('n-a'),
        detail: 'the remote does not have it yet.',
      },
      'the leader does not have its commit 0123456789, which machine n-a finished: the remote does not have it yet.',
    ],
    target_missing: [{ kind: 'target_missing', target: main }, 'there is no branch main to land on'],
    target_diverged: [
      { kind: 'target_diverged', target: main, remote: 'origin' },
      'main and origin/main have diverged; run git pull --rebase origin main',
    ],
    checks_unavailable: [{ kind: 'checks_unavailable', detail: 'no disk' }, 'its checks cannot run: no disk'],
    target_red: [
      {
        kind: 'target_red',
        target: main,
        failed: { name: 'unit', fault: { kind: 'exit', code: 127 }, log: '/unit.log' },
      },
      'check "unit" fails on main itself (exit code 127: command not found)',
    ],
    landing_failed: [
      { kind: 'landing_failed', detail: 'a file cannot be written' },
      'landing it failed and is retried: a file cannot be written',
    ],
    one_at_a_time: [
      { kind: 'one_at_a_time' },
      'several changes failed to land together, so they land one at a time',
    ],
    queue_failed: [
      { kind: 'queue_failed', detail: 'the disk is full' },
      'the queue cannot go on: the disk is full',
    ],
    no_slot: [{ kind: 'no_slot' }, 'no check slot is free'],
    nothing_to_check: [{ kind: 'nothing_to_check' }, 'no check can start'],
    note: [{ kind: 'note', text: 'as it was written' }, 'as it was written'],
  };

it.each(Object.values(sentences))('%o is described in a sentence', (reason, sentence) => {
  expect(waitText(reason)).toBe(sentence);
});

it('reasons are equal when all their fields are', () => {
  const reasons = Object.values(sentences).map(([reason]) => reason);
  for (const [at, one] of reasons.entries())
    for (const [also, other] of reasons.entries()) expect(isSameWait(one, { ...other })).toBe(at === also);
  expect(isSameWait(null, null)).toBe(true);
  expect(isSameWait({ kind: 'paused', comment: null }, { kind: 'paused', comment: 'x' })).toBe(false);
});

describe('a board of a version with reasons as text', () => {
  const sentence = 'waiting for the checkout at /x: a.txt has uncommitted changes';
  const note = { kind: 'note', text: sentence };
  const at = timestamp(1);

  it('shows that text for a waiting landing', () => {
    const stored = { id: 'la-1', head: 'abc', waiting: sentence, state: { status: 'queued', since: at } };
    const read = readLanding(stored as unknown as Landing);
    expect(read).toEqual({ ...stored, waiting: note });
    expect(waitText(read.waiting ?? '')).toBe(sentence);
    expect(readLanding(read)).toBe(read);
    const event = { type: 'landing.waiting', id: read.id, at, reason: sentence } as const;
    expect(evolveLanding({ ...read, waiting: null }, event).waiting).toEqual(note);
  });

  it('shows that text for a stalled queue', () => {
    const stalled = evolveQueue(newQueue(main), { type: 'queue.stalled', id: main, at, reason: sentence });
    expect(stalled.stalled).toEqual({ since: at, reason: note });
    const stored = { ...newQueue(main), stalled: { since: at, reason: sentence } };
    expect(readQueue(stored as unknown as MergeQueue)).toEqual(stalled);
    expect(readQueue(newQueue(main))).toEqual(newQueue(main));
  });
});
