import { describe, expect, it } from 'vitest';

import type { Author } from '../../../packages/copse/src/board/rules/event.ts';
import { brand, fencingToken, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import type {
  BranchName,
  CommitId,
  LandingId,
  NodeId,
  SessionId,
  TaskId,
} from '../../../packages/copse/src/kernel/ids.ts';
import { type Landing, evolveLanding } from '../../../packages/copse/src/queue/rules/landing.ts';
import {
  type CheckRun,
  type MergeQueue,
  newQueue,
} from '../../../packages/copse/src/queue/rules/merge-queue.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import {
  decideHurry,
  decideSkipChecks,
  decideTryAgain,
} from '../../../packages/copse/src/queue/rules/control.ts';
import { type EffectFacts, restartsBy } from '../../../packages/copse/src/queue/rules/effect.ts';
import type { Batch, BatchStage } from '../../../packages/copse/src/queue/rules/decide/state.ts';

const main = brand<BranchName>('main');
const tip = brand<CommitId>('tip');
const at = timestamp(1_000);
const person: Author = { kind: 'person', name: 'ada' };

function landing(name: string, more: Partial<Landing> = {}): Landing {
  return {
    id: brand<LandingId>(`la-${name}`),
    task: brand<TaskId>(`cp-${name}`),
    target: main,
    attempt: null,
    head: brand<CommitId>(`head-${name}`),
    queuedAt: timestamp(0),
    isHotfix: false,
    isUnchecked: false,
    waiting: null,
    state: { status: 'queued', since: timestamp(0) },
    ...more,
  };
}

const journalled = landing('a', {
  state: {
    status: 'merging',
    since: at,
    intent: { oldTip: tip, newTip: tip, commit: tip, isVerified: false },
  },
});

function evolved(before: Landing, decision: ReturnType<typeof decideHurry>): Landing {
  if (decision.kind === 'refused') throw new Error(decision.refusal.reason);
  return decision.events.reduce(evolveLanding, before);
}

describe('a person', () => {
  it('puts a change to the front, once', () => {
    const hurried = evolved(landing('a'), decideHurry(landing('a'), at));
    expect(hurried.isHotfix).toBe(true);
    expect(decideHurry(hurried, at)).toMatchObject({
      refusal: { reason: 'cp-a is already at the front of the queue of main.' },
    });
  });

  it('lets a change land without checks', () => {
    expect(evolved(landing('a'), decideSkipChecks(landing('a'), person, at)).isUnchecked).toBe(true);
  });

  it('retries a waiting change', () => {
    const waiting = landing('a', { waiting: { kind: 'paused', comment: null } });
    expect(evolved(waiting, decideTryAgain(waiting, at))).toMatchObject({
      waiting: null,
      head: 'head-a',
      queuedAt: 0,
      state: { status: 'queued', since: at },
    });
  });

  it('is told when it is too late: a journalled landing is finished', () => {
    for (const decision of [
      decideHurry(journalled, at),
      decideSkipChecks(journalled, person, at),
      decideTryAgain(journalled, at),
    ])
      expect(decision).toMatchObject({ kind: 'refused', refusal: { code: 'already_landing' } });
  });
});

// promise: unverified-recorded
it('only a person lets a change land without checks', () => {
  for (const by of [
    { kind: 'session', session: brand<SessionId>('se-1'), token: fencingToken(1) },
    { kind: 'node', node: brand<NodeId>('no-1') },
  ] as const)
    expect(decideSkipChecks(landing('a'), by, at)).toMatchObject({
      kind: 'refused',
      refusal: { code: 'not_this_session' },
    });
});

describe('what an action costs is known before', () => {
  const change = (name: string) => {
    const { id, task, head } = landing(name);
    return { landing: id, task, head };
  };
  const batch = (id: number, names: string, stage: BatchStage): Batch => {
    const changes = names.split(' ').map(change);
    return { id, changes, stage, wasRed: false, wasSlow: false };
  };
  const checking = (run: number): BatchStage => ({ is: 'checking', run, onto: tip, of: null });
  const run = (number: number, names: string, purpose: CheckRun['purpose']): CheckRun => ({
    run: number,
    purpose,
    commit: brand<CommitId>(`commit of ${names}`),
    landings: names.split(' ').map((name) => landing(name).id),
    slot: number,
    node: brand<NodeId>('no-1'),
    since: at,
  });

  function facts(names: string, queue: Partial<MergeQueue>, slots: number): EffectFacts {
    const entries = names.split(' ').map((name) => ({ landing: landing(name), isHeld: false }));
    return { queue: { ...newQueue(main), ...queue }, entries, slots, hasChecks: true, now: at };
  }

  const { landing: policy } = defaultPolicy;
  const state = newQueue(main).state;
  const ids = (names: string) => names.split(' ').map((name) => landing(name).id);
  const busy = {
    state: { ...state, next: 10, batches: [batch(1, 'a', checking(7)), batch(2, 'b', checking(8))] },
    runs: [run(7, 'a', 'batch'), run(8, 'b', 'batch')],
  };

  it('a hotfix takes the slot of the check that was begun last, and no more', () => {
    expect(restartsBy({ kind: 'hurried', landings: ids('c') }, facts('a b c', busy, 2), policy)).toBe(1);
    expect(restartsBy({ kind: 'hurried', landings: ids('c d') }, facts('a b c d', busy, 2), policy)).toBe(2);
  });

  it('with a free slot a hotfix costs nothing', () => {
    expect(restartsBy({ kind: 'hurried', landings: ids('c') }, facts('a b c', busy, 3), policy)).toBe(0);
  });

  it('a hotfix that is checked with others is checked anew without them', () => {
    const together = {
      state: { ...state, next: 10, batches: [batch(1, 'a b c', checking(7))] },
      runs: [run(7, 'a b c', 'batch')],
    };
    expect(restartsBy({ kind: 'hurried', landings: ids('b') }, facts('a b c', together, 4), policy)).toBe(1);
  });

  it('checks of the train begin anew when the hotfix stands in front of it', () => {
    const train = {
      state: {
        ...state,
        next: 10,
        batches: [batch(1, 'a', { is: 'green', since: 3 }), batch(2, 'b', { is: 'green', since: 4 })],
        probes: [{ run: 7, batches: [1, 2], commit: brand<CommitId>('commit of a b'), red: null }],
      },
      runs: [run(7, 'a b', 'probe')],
    };
    expect(restartsBy({ kind: 'hurried', landings: ids('c') }, facts('a b c', train, 4), policy)).toBe(1);
  });

  it('taking a change out abandons its check and that of its batch', () => {
    expect(restartsBy({ kind: 'withdrawn', landings: ids('a') }, facts('a b', busy, 2), policy)).toBe(1);
    expect(restartsBy({ kind: 'withdrawn', landings: ids('c') }, facts('a b c', busy, 2), policy)).toBe(0);
  });

  it('without checks no work is discarded', () => {
    const without = { ...facts('a b c', busy, 2), hasChecks: false };
    expect(restartsBy({ kind: 'hurried', landings: ids('c') }, without, policy)).toBe(0);
  });
});
