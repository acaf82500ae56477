import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { Decision } from '../../../packages/copse/src/kernel/decision.ts';
import {
  type Resource,
  type ResourceEvent,
  decideGiveBack,
  decideTake,
  evolveResource,
} from '../../../packages/copse/src/machines/rules/fleet.ts';
import { brand, fencingToken, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import type { FencingToken, ResourceName } from '../../../packages/copse/src/kernel/ids.ts';

const at = timestamp(1_000);
const later = timestamp(2_000);
const queue = brand<ResourceName>('queue:main');

function after(resource: Resource | undefined, decision: Decision<ResourceEvent>): Resource {
  if (decision.kind === 'refused') throw new Error(decision.refusal.reason);
  return decision.events
    .slice(1)
    .reduce<Resource>(evolveResource, evolveResource(resource, decision.events[0]));
}

describe('a resource', () => {
  const held = after(undefined, decideTake(queue, undefined, 'no-1', { until: later }, at));
  const free = after(held, decideGiveBack(held, held.token, later));

  it('that was never held is taken with token 1', () => {
    expect(held).toEqual({ id: queue, holder: 'no-1', token: 1, since: at, heldUntil: later });
  });

  it('that is held is refused to another, with the holder named', () => {
    expect(decideTake(queue, held, 'no-2', { until: null }, at)).toEqual({
      kind: 'refused',
      refusal: {
        code: 'wrong_status',
        reason: 'Cannot take queue:main: no-1 holds it.',
        next: ['Wait until no-1 releases it.'],
      },
    });
  });

  it('is taken again by its holder with the next token, which fences off the one before', () => {
    const again = after(held, decideTake(queue, held, 'no-1', { until: later }, at));
    expect(again).toMatchObject({ holder: 'no-1', token: 2 });
    expect(decideGiveBack(again, held.token, at)).toMatchObject({ kind: 'refused' });
  });

  it('that is given back is free, keeps its token, and gives the next one to the next holder', () => {
    expect(free).toEqual({ id: queue, holder: null, token: 1, since: later, heldUntil: null });
    const again = after(free, decideTake(queue, free, 'no-2', { until: null }, later));
    expect(again).toEqual({ id: queue, holder: 'no-2', token: 2, since: later, heldUntil: null });
  });

  it('is taken from a silent holder, whatever the time on its lease, and never without a lease', () => {
    const silent = held.token;
    for (const now of [timestamp(0), at, later, timestamp(1e15)]) {
      expect(decideTake(queue, held, 'no-2', { until: null }, now).kind).toBe('refused');
      expect(decideTake(queue, held, 'no-2', { until: null, silent }, now).kind).toBe('decided');
    }
    const again = after(held, decideTake(queue, held, 'no-1', { until: later }, at));
    expect(decideTake(queue, again, 'no-2', { until: null, silent }, later).kind).toBe('refused');
    const forever = after(undefined, decideTake(queue, undefined, 'no-1', { until: null }, at));
    expect(decideTake(queue, forever, 'no-2', { until: null, silent: forever.token }, later).kind).toBe(
      'refused',
    );
  });

  it('that was silent and was taken by another is not given back by the old token', () => {
    const taken = after(held, decideTake(queue, held, 'no-2', { until: null, silent: held.token }, later));
    expect(taken).toMatchObject({ holder: 'no-2', token: 2 });
    expect(decideGiveBack(taken, held.token, later)).toEqual({
      kind: 'refused',
      refusal: {
        code: 'fenced',
        reason: 'Token 1 no longer holds queue:main: the current token is 2.',
        next: ['Do nothing: it has a new holder.'],
      },
    });
    expect(decideGiveBack(taken, taken.token, later).kind).toBe('decided');
  });

  it('that was silent and was not taken again is still given back by its holder', () => {
    expect(decideGiveBack(held, held.token, timestamp(later + 1)).kind).toBe('decided');
  });

  it('is given back once, and never with a token that was not given out', () => {
    expect(decideGiveBack(free, free.token, later)).toMatchObject({ refusal: { code: 'fenced' } });
    expect(decideGiveBack(held, fencingToken(2), at)).toMatchObject({ refusal: { code: 'fenced' } });
  });
});

describe('any sequence of takers and times', () => {
  const anyStep = fc.record({
    who: fc.nat(1),
    does: fc.constantFrom('take', 'give back'),
    untilMs: fc.constantFrom(null, 500, 5_000),
    waitMs: fc.constantFrom(0, 1, 500, 5_000),
  });

  // promise: lead-fenced
  it('tokens only grow, at most one gives it back, and a replay gives the same', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { minLength: 1, maxLength: 60, size: 'max' }), (steps) => {
        let now = at;
        let resource: Resource | undefined;
        const events: ResourceEvent[] = [];
        const believed: FencingToken[] = [fencingToken(0), fencingToken(0)];
        for (const { who, does, untilMs, waitMs } of steps) {
          now = timestamp(now + waitMs);
          const until = untilMs === null ? null : timestamp(now + untilMs);
          if (does === 'give back' && resource === undefined) continue;
          const decision =
            resource === undefined || does === 'take'
              ? decideTake(queue, resource, `no-${who}`, { until: until }, now)
              : decideGiveBack(resource, believed[who] ?? fencingToken(0), now);
          const before: number = resource?.token ?? 0;
          expect(unexplained(decision)).toEqual([]);
          if (decision.kind === 'decided') {
            resource = after(resource, decision);
            events.push(...decision.events);
            if (does === 'take') believed[who] = resource.token;
          }
          expect((resource?.token ?? 0) - before).toBe(
            does === 'take' && decision.kind === 'decided' ? 1 : 0,
          );
          if (resource === undefined) continue;
          const one = resource;
          const tokens = Array.from({ length: one.token + 2 }, (_, token) => fencingToken(token));
          const accepted = tokens.filter((token) => decideGiveBack(one, token, now).kind === 'decided');
          expect(accepted).toEqual(one.holder === null ? [] : [one.token]);
        }
        const stored = JSON.parse(JSON.stringify(events)) as ResourceEvent[];
        expect(stored.reduce<Resource | undefined>(evolveResource, undefined)).toEqual(resource);
      }),
      { numRuns: 1_000 },
    );
  });
});

/** What is missing from a refusal: a sentence that names the resource, and what to do. */
function unexplained(decision: Decision<ResourceEvent>): readonly string[] {
  if (decision.kind === 'decided') return [];
  const { reason, next } = decision.refusal;
  return [
    ...(/queue:main.*[^.]\.$/.test(reason) ? [] : [reason]),
    ...next.filter((advice) => advice.trim() === ''),
  ];
}
