import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  type Claimant,
  type Lease,
  decideClaim,
  decideRenewal,
  grant,
  refuseUnlessHeld,
} from '../../../packages/copse/src/tasks/rules/claim.ts';
import type { Decision } from '../../../packages/copse/src/kernel/decision.ts';
import { brand, fencingToken, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import type {
  AgentName,
  AttemptId,
  LandingId,
  NodeId,
  SessionId,
  TaskId,
  Timestamp,
} from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { type Task, type TaskState, taskStatuses } from '../../../packages/copse/src/tasks/rules/task.ts';
import {
  decidePause,
  decideRestart,
  decideResume,
} from '../../../packages/copse/src/tasks/rules/decisions.ts';
import { type TaskEvent, evolveTask } from '../../../packages/copse/src/tasks/rules/events.ts';
import { decideCrash, decidePark, decideStuck } from '../../../packages/copse/src/tasks/rules/outcomes.ts';
import { commit, definition } from '../../support/records/world.ts';

const at = timestamp(1_000_000);
const policy = { durationMs: 30_000, renewEveryMs: 5_000 } as const;
const id = brand<TaskId>('cp-0001');

const claimant = (name: string): Claimant => ({
  session: brand<SessionId>(`se-${name}`),
  attempt: brand<AttemptId>(`at-${name}`),
  node: brand<NodeId>('no-1'),
  agent: brand<AgentName>('coder'),
});

const states: Readonly<Record<TaskState['status'], TaskState>> = {
  pending: { status: 'pending', since: at },
  ready: { status: 'ready', since: at, delay: null },
  in_progress: { status: 'in_progress', since: at, claim: { ...claimant('1'), token: fencingToken(4) } },
  paused: { status: 'paused', since: at },
  stuck: { status: 'stuck', since: at, reason: 'JWT or cookies?' },
  in_review: { status: 'in_review', since: at, head: commit, pullRequest: null },
  landing: { status: 'landing', since: at, landing: brand<LandingId>('la-1') },
  needs_attention: { status: 'needs_attention', since: at, because: 'push', reason: 'refused' },
  done: { status: 'done', since: at, how: 'landed', commit },
  failed: { status: 'failed', since: at, reason: 'crashed three times' },
  cancelled: { status: 'cancelled', since: at, reason: null },
};

const predicates: Readonly<Record<TaskState['status'], string>> = {
  pending: 'is pending',
  ready: 'is ready',
  in_progress: 'is in progress',
  paused: 'is paused',
  stuck: 'is stuck',
  in_review: 'is in review',
  landing: 'is in the queue',
  needs_attention: 'needs attention',
  done: 'is done',
  failed: 'has failed',
  cancelled: 'is cancelled',
};

/** A task that was claimed four times. */
const taskIn = (status: TaskState['status']) => ({
  id,
  state: states[status],
  token: fencingToken(4),
  dependsOn: [brand<TaskId>('cp-dep1')],
});

describe('a claim', () => {
  it('of a ready task has the holder, the next token and a lease', () => {
    expect(decideClaim(taskIn('ready'), claimant('2'), at, policy)).toEqual({
      kind: 'decided',
      events: [
        {
          type: 'task.claimed',
          id,
          at,
          claim: { session: 'se-2', attempt: 'at-2', node: 'no-1', agent: 'coder', token: 5 },
          leaseUntil: at + 30_000,
        },
      ],
    });
  });

  it.each(taskStatuses.filter((status) => status !== 'ready'))('of a %s task is refused', (status) => {
    const decision = decideClaim(taskIn(status), claimant('2'), at, policy);
    if (decision.kind === 'decided') throw new Error('it was claimed');
    const { code, reason, next } = decision.refusal;
    const where = status === 'pending' ? 'waits for cp-dep1' : predicates[status];
    expect([code, reason]).toEqual(['wrong_status', `Cannot claim cp-0001: it ${where}.`]);
    for (const command of next) expect(command).toMatch(/^copse (\w+ cp-0001|queue)$/);
  });

  it.each([
    ['crash', 1, 'cp-0001 waits 1 s more because its last attempt crashed.'],
    ['crash', 1_001, 'cp-0001 waits 2 s more because its last attempt crashed.'],
    ['rate_limit', 60_000, 'cp-0001 waits 60 s more because its agent hit a rate limit.'],
  ] as const)('after a %s is refused %i ms before its delay is over', (because, earlyMs, reason) => {
    const delay = { until: timestamp(at + earlyMs), because };
    const waiting = { ...taskIn('ready'), state: { status: 'ready', since: at, delay } } as const;
    expect(decideClaim(waiting, claimant('2'), at, policy)).toEqual({
      kind: 'refused',
      refusal: { code: 'too_early', reason, next: ['copse why cp-0001'] },
    });
    expect(decideClaim(waiting, claimant('2'), delay.until, policy).kind).toBe('decided');
    const byHand = { ...claimant('2'), isByHand: true } as const;
    expect(decideClaim(waiting, byHand, at, policy).kind).toBe('decided');
  });

  it('is granted one token above the highest, for any claimant', () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.nat(), fc.integer({ min: 1 }), (token, forged, durationMs) => {
        const bold = { ...claimant('2'), token: fencingToken(forged) };
        const given = grant({ token: fencingToken(token) }, bold, at, { durationMs });
        expect(given.claim.token).toBe(token + 1);
        expect(given.leaseUntil).toBe(at + durationMs);
      }),
    );
  });
});

describe('a token', () => {
  it('is accepted from the holder', () => {
    expect(refuseUnlessHeld(taskIn('in_progress'), fencingToken(4))).toBeUndefined();
  });

  it.each([0, 3, 5, 99])('%i is fenced off where 4 holds the task', (token) => {
    expect(refuseUnlessHeld(taskIn('in_progress'), fencingToken(token))).toEqual({
      kind: 'refused',
      refusal: {
        code: 'fenced',
        reason: `Another session took over cp-0001: this session has token ${token}, the task is at 4.`,
        next: ['Stop working on cp-0001, and leave its worktree as it is.', 'copse show cp-0001'],
      },
    });
  });

  it.each(taskStatuses.filter((status) => status !== 'in_progress'))(
    'that held the task last holds nothing once it is %s',
    (status) => {
      const refusal = refuseUnlessHeld(taskIn(status), fencingToken(4));
      expect(refusal?.refusal).toMatchObject({
        code: 'wrong_status',
        reason: `This session no longer holds cp-0001: it ${predicates[status]}.`,
      });
      expect(refusal?.refusal.next[0]).toMatch(/^copse \w+/);
      expect(refuseUnlessHeld(taskIn(status), fencingToken(3))?.refusal.code).toBe('fenced');
    },
  );
});

describe('a lease', () => {
  const lease: Lease = {
    task: id,
    token: fencingToken(4),
    renewedAt: at,
    expiresAt: timestamp(at + 30_000),
  };

  it.each([1, 29_999, 30_000, 3_600_000])('is renewed by its holder after %i ms, expired or not', (ms) => {
    const now = timestamp(at + ms);
    expect(decideRenewal(lease, fencingToken(4), now, policy)).toEqual({
      kind: 'renewed',
      lease: { task: id, token: 4, renewedAt: now, expiresAt: now + 30_000 },
    });
  });

  it('is never shortened by a renewal, whatever the clocks say', () => {
    const early = timestamp(at - 60_000);
    expect(decideRenewal(lease, fencingToken(4), early, policy)).toEqual({
      kind: 'renewed',
      lease: { ...lease, renewedAt: lease.renewedAt + 1 },
    });
  });

  it('differs from the one before for every observer, even while the clock stands still', () => {
    const renewal = decideRenewal(lease, fencingToken(4), lease.renewedAt, policy);
    expect(renewal.kind === 'renewed' && renewal.lease.renewedAt).toBe(lease.renewedAt + 1);
  });

  it.each([0, 3, 5])('of token 4 is not renewed with token %i', (token) => {
    for (const ms of [0, 30_000]) {
      expect(decideRenewal(lease, fencingToken(token), timestamp(at + ms), policy)).toEqual({
        kind: 'fenced',
      });
    }
  });

  it('that does not exist is not renewed', () => {
    expect(decideRenewal(undefined, fencingToken(4), at, policy)).toEqual({
      kind: 'not_held',
    });
  });

  it('lasts 30 s and is renewed every 5 s by default', () => {
    expect(defaultPolicy.lease).toMatchObject(policy);
  });
});

describe('two claimants, with any actions and pauses', () => {
  const doings = ['claim', 'renew', 'crash', 'park', 'stuck', 'pause', 'resume', 'restart'] as const;
  const anyStep = fc.record({
    who: fc.nat(1),
    does: fc.constantFrom(...doings),
    waitMs: fc.constantFrom(0, 1_000, 31_000, 400_000),
  });

  /** One task, the lease beside it, and what each of the two believes to hold. */
  class Race {
    task = required(evolveTask(undefined, { type: 'task.created', id, at, definition, status: 'ready' }));
    lease: Lease | undefined;
    now: Timestamp = at;
    readonly issued: number[] = [];
    readonly believed = [fencingToken(0), fencingToken(0)];
    serial = 0;

    take({ who, does, waitMs }: { who: number; does: (typeof doings)[number]; waitMs: number }): boolean {
      this.now = timestamp(this.now + waitMs);
      if (does !== 'renew') return this.record(who, this.decide(who, does));
      const renewal = decideRenewal(this.lease, required(this.believed[who]), this.now, policy);
      if (renewal.kind === 'renewed') this.lease = renewal.lease;
      return renewal.kind === 'renewed';
    }

    decide(who: number, does: Exclude<(typeof doings)[number], 'renew'>): Decision<TaskEvent> {
      const { task, now } = this;
      const token = required(this.believed[who]);
      this.serial += 1;
      const fresh = claimant(`${who}-${this.serial}`);
      const same = { ...fresh, session: task.session ?? fresh.session };
      const ways = {
        claim: () => decideClaim(task, fresh, now, policy),
        crash: () => decideCrash(task, token, 'gone', now, defaultPolicy.retry),
        park: () => decidePark(task, token, { until: timestamp(now + 60_000), because: 'rate_limit' }, now),
        stuck: () => decideStuck(task, token, 'JWT or cookies?', now),
        pause: () => decidePause(task, now),
        resume: () => decideResume(task, same, now, policy),
        restart: () => decideRestart(task, fresh, now, policy),
      };
      return ways[does]();
    }

    record(who: number, decision: Decision<TaskEvent>): boolean {
      if (decision.kind === 'refused') return false;
      for (const event of decision.events) this.task = required(evolveTask(this.task, event));
      const { state } = this.task;
      this.lease = undefined;
      if (state.status !== 'in_progress') return true;
      const { token } = state.claim;
      this.lease = { task: id, token, renewedAt: this.now, expiresAt: timestamp(this.now + 30_000) };
      this.issued.push(token);
      this.believed[who] = token;
      return true;
    }
  }

  const races = fc.array(anyStep, { minLength: 1, maxLength: 60, size: 'max' });

  // promise: tokens-grow
  it('never hold the task with two tokens, and the one that holds it is the highest', () => {
    fc.assert(
      fc.property(races, (steps) => {
        const race = new Race();
        for (const step of steps) {
          race.take(step);
          const highest = race.issued.at(-1) ?? 0;
          const tokens = Array.from({ length: highest + 3 }, (_, token) => fencingToken(token));
          const accepted = tokens.filter((token) => refuseUnlessHeld(race.task, token) === undefined);
          expect(accepted).toEqual(race.task.state.status === 'in_progress' ? [highest] : []);
          const renewing = tokens.filter(
            (token) => decideRenewal(race.lease, token, race.now, policy).kind === 'renewed',
          );
          expect(renewing).toEqual(accepted);
        }
        expect(race.issued).toEqual(race.issued.map((_, index) => index + 1));
      }),
      { numRuns: 1_000 },
    );
  });

  // promise: stale-token-fenced
  it('change nothing with a token below the newest', () => {
    fc.assert(
      fc.property(races, (steps) => {
        const race = new Race();
        for (const step of steps) {
          const token = required(race.believed[step.who]);
          const isPassed = token < (race.issued.at(-1) ?? 0);
          const before: Task = race.task;
          const happened = race.take(step);
          if (!isPassed || !['renew', 'crash', 'park', 'stuck'].includes(step.does)) continue;
          expect([happened, race.task]).toEqual([false, before]);
        }
      }),
      { numRuns: 500 },
    );
  });
});

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('it was there a moment ago');
  return value;
}
