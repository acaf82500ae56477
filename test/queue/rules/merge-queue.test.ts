import { describe, expect, it } from 'vitest';

import {
  type BranchName,
  type CommitId,
  type NodeId,
  brand,
  timestamp,
} from '../../../packages/copse/src/kernel/ids.ts';
import {
  type MergeQueue,
  type MergeQueueEvent,
  type QueueSwitch,
  decidePauseQueue,
  decideResumeQueue,
  decideRetryQueue,
  evolveQueue,
  keepRetry,
  newQueue,
} from '../../../packages/copse/src/queue/rules/merge-queue.ts';
import { type QueueState, emptyQueueState } from '../../../packages/copse/src/queue/rules/decide/state.ts';

const id = brand<BranchName>('main');
const [at, later] = [timestamp(1_000), timestamp(2_000)];
const fresh = newQueue(id);

type Decided = ReturnType<typeof decidePauseQueue>;

function after(queue: MergeQueue, decision: Decided): MergeQueue {
  if (decision.kind === 'refused') throw new Error(decision.refusal.reason);
  return decision.events.reduce<MergeQueue>(evolveQueue, queue);
}

const pause = (queue: MergeQueue, what: QueueSwitch, reason: string | null = null) =>
  after(queue, decidePauseQueue(queue, what, reason, at));
const resume = (queue: MergeQueue, what: QueueSwitch) => after(queue, decideResumeQueue(queue, what, later));

describe('the two switches of a queue', () => {
  it('are on from the beginning', () => {
    expect(fresh.paused).toEqual({ accept: null, land: null });
  });

  it.each([
    ['accept', 'land'],
    ['land', 'accept'],
  ] as const)('%s is switched off and on, whatever %s is', (what, other) => {
    for (const before of [fresh, pause(fresh, other, 'a release')]) {
      const paused = pause(before, what, 'a holiday');
      expect(paused).toEqual({
        ...before,
        paused: { ...before.paused, [what]: { since: at, reason: 'a holiday' } },
      });
      expect(resume(paused, what)).toEqual(before);
    }
  });

  it('are not switched off twice: the first person and reason stay', () => {
    expect(decidePauseQueue(pause(fresh, 'accept'), 'accept', 'again', later)).toMatchObject({
      kind: 'refused',
      refusal: { code: 'wrong_status', reason: 'The queue of main already accepts no new tasks.' },
    });
    expect(decidePauseQueue(pause(fresh, 'land'), 'land', 'again', later)).toMatchObject({
      kind: 'refused',
      refusal: { code: 'wrong_status', reason: 'The queue of main already lands nothing.' },
    });
  });

  it('are not switched on if they are on', () => {
    for (const what of ['accept', 'land'] as const)
      expect(decideResumeQueue(fresh, what, later)).toMatchObject({
        kind: 'refused',
        refusal: { code: 'wrong_status', reason: 'The queue of main is not paused.' },
      });
    expect(decideResumeQueue(pause(fresh, 'land'), 'accept', later).kind).toBe('refused');
  });
});

describe('a person’s retry', () => {
  const tip = brand<CommitId>('c'.repeat(40));
  const audit = (verdict: 'checking' | 'green' | 'red') => ({ tip, verdict, run: 3, tried: [] });
  const troubled: QueueState = {
    ...emptyQueueState,
    next: 8,
    trouble: { reason: 'no disk', times: 4, until: 90_000 },
    audit: audit('red'),
  };
  const retried = (state: QueueState) => {
    const decision = decideRetryQueue({ ...fresh, state }, at);
    return decision && after({ ...fresh, state }, decision).state;
  };

  it('clears failed infrastructure and a red target, and nothing else', () => {
    expect(retried(troubled)).toEqual({ ...emptyQueueState, next: 8 });
    for (const verdict of ['checking', 'green'] as const)
      expect(retried({ ...troubled, audit: audit(verdict) })?.audit).toEqual(audit(verdict));
  });

  it('changes nothing if there is neither', () => {
    expect(retried({ ...troubled, trouble: null, audit: audit('green') })).toBeNull();
    expect(retried(emptyQueueState)).toBeNull();
  });

  it('reaches the leader, also in the middle of a decision', () => {
    const decided = { ...troubled, next: 9 };
    const written = { ...troubled, trouble: null, audit: null };
    expect(keepRetry(decided, troubled, written)).toEqual({ ...written, next: 9 });
    expect(keepRetry(decided, { ...troubled, trouble: null }, written).audit).toBeNull();
    expect(keepRetry(decided, { ...troubled, audit: null }, written).trouble).toBeNull();
  });

  it('does not clear what the decision itself found out', () => {
    expect(keepRetry(troubled, emptyQueueState, emptyQueueState)).toBe(troubled);
    expect(keepRetry(troubled, troubled, troubled)).toBe(troubled);
  });
});

describe('a queue', () => {
  const run = {
    run: 7,
    purpose: 'probe',
    commit: brand<CommitId>('c'.repeat(40)),
    landings: [],
    slot: 1,
    node: brand<NodeId>('no-1'),
    since: at,
  } as const;
  const decided: MergeQueueEvent = {
    type: 'queue.decided',
    id,
    at,
    state: { ...emptyQueueState, next: 8 },
    runs: [run],
  };

  it('exists from its first event', () => {
    expect(evolveQueue(undefined, decided)).toEqual({
      ...fresh,
      state: { ...emptyQueueState, next: 8 },
      runs: [run],
    });
  });

  it('remembers the last decision, and keeps its switches', () => {
    const paused = pause(fresh, 'land');
    expect(evolveQueue(paused, decided)).toEqual({ ...paused, state: decided.state, runs: [run] });
  });

  it('has the time and the reason of a stall, until it moves', () => {
    const stalled = evolveQueue(fresh, {
      type: 'queue.stalled',
      id,
      at: later,
      reason: { kind: 'target_red' },
    });
    expect(stalled.stalled).toEqual({ since: later, reason: { kind: 'target_red' } });
    expect(evolveQueue(stalled, { type: 'queue.moving', id, at: later })).toEqual(fresh);
  });
});
