import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { Decision } from '../../../packages/copse/src/kernel/decision.ts';
import { brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import type {
  AttemptId,
  BranchName,
  CommitId,
  LandingId,
  TaskId,
} from '../../../packages/copse/src/kernel/ids.ts';
import {
  type Landing,
  type LandingAction,
  type LandingEvent,
  type LandingRequest,
  type Proof,
  decideLanding,
  evolveLanding,
  isCommitted,
  landingTransitions,
} from '../../../packages/copse/src/queue/rules/landing.ts';

const at = timestamp(1_000);
const later = timestamp(2_000);
const commit = (digit: string) => brand<CommitId>(digit.repeat(40));
const [head, newHead, candidate, oldTip, newTip] = ['1', '2', 'c', 'a', 'b'].map(commit) as [
  ...[CommitId, CommitId, CommitId, CommitId, CommitId],
];
const wanted = { oldTip, newTip, commit: newTip };
const intent = { ...wanted, isVerified: false };
const noChecks = { kind: 'none_asked_for' } as const;

const queuedEvent: LandingEvent & { type: 'landing.queued' } = {
  type: 'landing.queued',
  id: brand<LandingId>('la-1'),
  at,
  task: brand<TaskId>('cp-0001'),
  target: brand<BranchName>('main'),
  attempt: brand<AttemptId>('at-1'),
  head,
};

const requests: Readonly<Record<LandingAction, LandingRequest>> = {
  merge: { action: 'merge' },
  check: { action: 'check', candidate },
  journal: { action: 'journal', intent: wanted, proof: noChecks },
  land: { action: 'land', commit: newTip },
  requeue: { action: 'requeue', head: newHead, reason: 'the branch moved' },
  conflict: { action: 'conflict', files: ['src/a.ts'], with: [brand<TaskId>('cp-0002')] },
  reject: { action: 'reject', reason: 'npm test failed' },
  hurry: { action: 'hurry' },
  skip_checks: { action: 'skip_checks' },
  note: { action: 'note', note: 'Resolved as before: src/a.ts' },
  wait: { action: 'wait', reason: { kind: 'checkout_changed', checkout: '/x', files: ['src/a.ts'] } },
  withdraw: { action: 'withdraw', reason: 'cancelled' },
};

const {
  merge,
  check,
  journal,
  land,
  requeue,
  conflict,
  reject,
  hurry,
  skip_checks: skip,
  withdraw,
} = requests;

/** The shortest way to every place a landing can be in; * is for one whose intent is journalled. */
const wayTo = {
  queued: [],
  merging: [merge],
  'merging*': [merge, journal],
  checking: [merge, check],
  'checking*': [merge, check, journal],
  landed: [merge, journal, land],
  conflicted: [conflict],
  rejected: [merge, reject],
  withdrawn: [withdraw],
} as const satisfies Readonly<Record<string, readonly LandingRequest[]>>;

type Place = keyof typeof wayTo;

/** Where each action leads from each place: wrong is for `wrong_status`, late for `already_landing`. */
const table = `
            queued      merging     merging*  checking    checking*  landed  conflicted  rejected  withdrawn
  merge     merging     wrong       wrong     wrong       wrong      wrong   wrong       wrong     wrong
  check     checking    checking    late      checking    late       wrong   wrong       wrong     wrong
  journal   wrong       merging*    late      checking*   late       wrong   wrong       wrong     wrong
  land      wrong       wrong       landed    wrong       landed     wrong   wrong       wrong     wrong
  requeue   queued      queued      queued    queued      queued     wrong   wrong       wrong     wrong
  conflict  conflicted  conflicted  late      conflicted  late       wrong   wrong       wrong     wrong
  reject    rejected    rejected    late      rejected    late       wrong   wrong       wrong     wrong
  hurry     queued      merging     late      checking    late       wrong   wrong       wrong     wrong
  skip_checks  queued   merging     late      checking    late       wrong   wrong       wrong     wrong
  note      queued      merging     late      checking    late       wrong   wrong       wrong     wrong
  wait      queued      queued      queued    queued      queued     wrong   wrong       wrong     wrong
  withdraw  withdrawn   withdrawn   late      withdrawn   late       wrong   wrong       wrong     wrong
`;

const [places, ...rows] = table
  .trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/)) as [Place[], ...[LandingAction, ...string[]][]];
const cells = rows.flatMap(([action, ...leads]) =>
  places.map((place, column) => ({ action, place, leads: leads[column] ?? '' })),
);
const actions = rows.map(([action]) => action);
const leadsTo = (action: LandingAction, from: Place) =>
  cells.find((cell) => cell.action === action && cell.place === from)?.leads;

function landingIn(place: Place): Landing {
  return wayTo[place].reduce<Landing>(take, evolveLanding(undefined, queuedEvent));
}

function take(landing: Landing, request: LandingRequest): Landing {
  const decision = decideLanding(landing, request, later);
  if (decision.kind === 'refused') throw new Error(decision.refusal.reason);
  return decision.events.reduce<Landing>(evolveLanding, landing);
}

function placeOf({ state }: Landing): Place {
  const isJournalled = 'intent' in state && state.intent !== null;
  return isJournalled ? `${state.status}*` : state.status;
}

describe('the landing table', () => {
  it.each(cells)('$action while $place: $leads', ({ action, place, leads }) => {
    const landing = landingIn(place);
    expect(placeOf(landing)).toBe(place);
    expect(outcomeOf(landing, decideLanding(landing, requests[action], later))).toBe(leads);
  });

  it('has the result of each action in each status, and nothing else', () => {
    expect(landingTransitions).toEqual({
      merge: { queued: ['merging'] },
      check: { queued: ['checking'], merging: ['checking'], checking: ['checking'] },
      journal: { merging: ['merging'], checking: ['checking'] },
      land: { merging: ['landed'], checking: ['landed'] },
      requeue: { queued: ['queued'], merging: ['queued'], checking: ['queued'] },
      hurry: { queued: ['queued'], merging: ['merging'], checking: ['checking'] },
      skip_checks: { queued: ['queued'], merging: ['merging'], checking: ['checking'] },
      note: { queued: ['queued'], merging: ['merging'], checking: ['checking'] },
      wait: { queued: ['queued'], merging: ['queued'], checking: ['queued'] },
      conflict: { queued: ['conflicted'], merging: ['conflicted'], checking: ['conflicted'] },
      reject: { queued: ['rejected'], merging: ['rejected'], checking: ['rejected'] },
      withdraw: { queued: ['withdrawn'], merging: ['withdrawn'], checking: ['withdrawn'] },
    });
    expect(Object.keys(landingTransitions)).toEqual(actions);
  });
});

describe('a landing', () => {
  it('starts with the head it was queued with, at the time it was queued', () => {
    const { type: _, at: queuedAt, ...given } = queuedEvent;
    expect(landingIn('queued')).toEqual({
      ...given,
      queuedAt,
      isHotfix: false,
      isUnchecked: false,
      waiting: null,
      state: { status: 'queued', since: at },
    });
  });

  it('has in every state the fields of that state, and its time', () => {
    const since = later;
    expect(Object.fromEntries(places.map((place) => [place, landingIn(place).state]))).toEqual({
      queued: { status: 'queued', since: at },
      merging: { status: 'merging', since, intent: null },
      'merging*': { status: 'merging', since, intent },
      checking: { status: 'checking', since, candidate, intent: null },
      'checking*': { status: 'checking', since, candidate, intent },
      landed: { status: 'landed', since, commit: newTip, isVerified: false },
      conflicted: { status: 'conflicted', since, files: ['src/a.ts'], with: ['cp-0002'] },
      rejected: { status: 'rejected', since, reason: 'npm test failed' },
      withdrawn: { status: 'withdrawn', since, reason: 'cancelled' },
    });
  });

  it('that moves while queued keeps its place with the new head', () => {
    const moved = take(landingIn('queued'), requeue);
    expect(moved).toEqual({
      ...landingIn('queued'),
      head: newHead,
      state: { status: 'queued', since: later },
    });
  });

  it('knows what resolved its conflict, until it merges without that or its branch moves', () => {
    const noted = take(landingIn('checking'), requests.note);
    expect(noted).toEqual({ ...landingIn('checking'), note: 'Resolved as before: src/a.ts' });
    expect(take(take(noted, journal), land)).toMatchObject({ note: 'Resolved as before: src/a.ts' });
    expect(take(noted, { action: 'requeue', head, reason: 'the target moved' })).toHaveProperty('note');
    expect(take(noted, requeue)).not.toHaveProperty('note');
    expect(take(noted, { action: 'note', note: null })).toEqual(landingIn('checking'));
  });

  it('is checked again with another candidate, and knows only the newest', () => {
    const again = take(landingIn('checking'), { action: 'check', candidate: oldTip });
    expect(again.state).toMatchObject({ status: 'checking', candidate: oldTip });
  });
});

describe('a person', () => {
  it('moves it to the front, and lets it land without checks, in any state of the queue', () => {
    for (const place of ['queued', 'merging', 'checking'] as const) {
      const before = landingIn(place);
      expect(take(before, hurry)).toEqual({ ...before, isHotfix: true });
      expect(take(before, skip)).toEqual({ ...before, isUnchecked: true });
    }
  });

  it('decides about the landing, whose branch may move', () => {
    const hurried = take(take(landingIn('checking'), hurry), skip);
    expect(take(hurried, requeue)).toMatchObject({ head: newHead, isHotfix: true, isUnchecked: true });
  });
});

// promise: checked-tree-lands
describe('the proof that the target may move', () => {
  const journalWith = (proof: Proof) => ({ action: 'journal', intent: wanted, proof }) as const;
  const required = ['unit', 'lint'];

  it.each([
    ['what no check is asked for', noChecks, false],
    ['all that are asked for are green', { kind: 'checked', green: ['lint', 'unit', 'old'], required }, true],
  ] as const)('is enough if %s', (_, proof, isVerified) => {
    const journalled = take(landingIn('checking'), journalWith(proof));
    expect(journalled.state).toMatchObject({ intent: { isVerified } });
    expect(take(journalled, land).state).toMatchObject({ status: 'landed', isVerified });
  });

  it.each([
    ['one of them is not green', { kind: 'checked', green: ['unit'], required }, /has not passed lint/],
    ['nothing was asked for', { kind: 'checked', green: ['unit'], required: [] }, /has not passed any check/],
    ['no person let it land without', { kind: 'skipped' }, /^cp-0001 needs passing checks\.$/],
  ] as const)('is refused if %s', (_, proof, reason) => {
    expect(decideLanding(landingIn('checking'), journalWith(proof), later)).toMatchObject({
      kind: 'refused',
      refusal: { code: 'wrong_status', reason: expect.stringMatching(reason) },
    });
  });

  it('may be missing if a person skipped the checks, and the landing is unverified then', () => {
    const skipped = take(landingIn('checking'), skip);
    const landed = take(take(skipped, journalWith({ kind: 'skipped' })), land);
    expect(landed.state).toMatchObject({ status: 'landed', isVerified: false });
  });

  it('is missing in journals of earlier versions, which have only the target’s move', () => {
    const old = { type: 'landing.journalled', id: queuedEvent.id, at, intent: { oldTip, newTip } };
    const journalled = evolveLanding(landingIn('merging'), old as LandingEvent);
    expect(journalled.state).toMatchObject({ intent });
  });
});

describe('a journalled intent', () => {
  const journalled = ['merging*', 'checking*'] as const;

  it('exists exactly in the states of a journalled landing', () => {
    expect(places.filter((place) => isCommitted(landingIn(place)))).toEqual(journalled);
  });

  it.each(journalled)('while %s refuses to withdraw, conflict or reject and says why', (place) => {
    for (const request of [withdraw, conflict, reject, check, journal, hurry, skip]) {
      expect(decideLanding(landingIn(place), request, later)).toEqual({
        kind: 'refused',
        refusal: {
          code: 'already_landing',
          reason: 'cp-0001 is already landing: the move of main is journalled and will be completed.',
          next: ['copse why cp-0001'],
        },
      });
    }
  });

  it.each(['merging', 'checking'] as const)('is needed to land while %s', (place) => {
    expect(decideLanding(landingIn(place), land, later)).toEqual({
      kind: 'refused',
      refusal: {
        code: 'wrong_status',
        reason: 'The landing of cp-0001 has no journalled intent, so main cannot have moved for it.',
        next: ['copse why cp-0001'],
      },
    });
    expect(take(take(landingIn(place), journal), land).state).toMatchObject({ commit: newTip });
  });

  it.each(journalled)('while %s is forgotten with the old head when the landing is queued again', (place) => {
    const again = take(landingIn(place), requeue);
    expect(again).toMatchObject({ head: newHead, queuedAt: at });
    expect(again.state).toEqual({ status: 'queued', since: later });
    const merging = take(again, merge);
    expect(isCommitted(merging)).toBe(false);
    expect(decideLanding(merging, land, later).kind).toBe('refused');
    expect(decideLanding(merging, withdraw, later).kind).toBe('decided');
  });

  it('is refused for a landing that was not being merged or checked', () => {
    const event = { type: 'landing.journalled', id: queuedEvent.id, at, intent } as const;
    for (const place of ['queued', 'landed', 'withdrawn'] as const)
      expect(() => evolveLanding(landingIn(place), event)).toThrow(`la-1 was journalled while ${place}`);
  });
});

describe('whatever happens to a landing', () => {
  const anyCommit = fc.constantFrom('1', '2', 'a', 'b', 'c').map(commit);
  const anyRequest: fc.Arbitrary<LandingRequest> = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(merge, journal, requeue) },
    { weight: 1, arbitrary: fc.constantFrom(hurry, skip) },
    { weight: 2, arbitrary: fc.record({ action: fc.constant('check'), candidate: anyCommit }) },
    {
      weight: 2,
      arbitrary: fc.record({ action: fc.constant('requeue'), head: anyCommit, reason: fc.string() }),
    },
    { weight: 1, arbitrary: fc.constantFrom(land, conflict, reject, withdraw) },
  );
  const walks = fc.array(anyRequest, { minLength: 1, maxLength: 40, size: 'max' });

  function walkAlong(
    walk: readonly LandingRequest[],
    look: (before: Landing, after: Landing, request: LandingRequest) => void,
  ): { readonly landing: Landing; readonly events: readonly LandingEvent[] } {
    let landing = evolveLanding(undefined, queuedEvent);
    const events: LandingEvent[] = [queuedEvent];
    for (const [step, request] of walk.entries()) {
      const before = landing;
      const decision = decideLanding(before, request, timestamp(later + step));
      expect(outcomeOf(before, decision)).toBe(leadsTo(request.action, placeOf(before)));
      expect(unexplained(decision)).toEqual([]);
      if (decision.kind === 'refused') continue;
      landing = decision.events.reduce<Landing>(evolveLanding, before);
      events.push(...decision.events);
      look(before, landing, request);
    }
    return { landing, events };
  }

  it('leads along an arrow of the table, or is refused with a reason and a command', () => {
    fc.assert(
      fc.property(walks, (walk) => {
        walkAlong(walk, (before, after, request) => {
          const expectedHead = request.action === 'requeue' ? request.head : before.head;
          const isHotfix = before.isHotfix || request.action === 'hurry';
          const isUnchecked = before.isUnchecked || request.action === 'skip_checks';
          const flags = { isHotfix, isUnchecked };
          expect(after).toEqual({ ...before, ...flags, head: expectedHead, state: after.state });
        });
      }),
      { numRuns: 1_000 },
    );
  });

  // promise: lands-once
  it('lands at most once, and only with the intent journalled since it was last queued', () => {
    fc.assert(
      fc.property(walks, (walk) => {
        const types = walkAlong(walk, () => {}).events.map(({ type }) => type);
        const landed = types.indexOf('landing.landed');
        if (landed === -1) return;
        expect(landed).toBe(types.length - 1);
        const lastQueued = Math.max(
          types.lastIndexOf('landing.queued'),
          types.lastIndexOf('landing.requeued'),
        );
        expect(types.slice(lastQueued)).toContain('landing.journalled');
      }),
      { numRuns: 1_000 },
    );
  });

  it('is the same when replayed from its events', () => {
    fc.assert(
      fc.property(walks, (walk) => {
        const { landing, events } = walkAlong(walk, () => {});
        const [first, ...others] = JSON.parse(JSON.stringify(events)) as [LandingEvent, ...LandingEvent[]];
        expect(others.reduce<Landing>(evolveLanding, evolveLanding(undefined, first))).toEqual(landing);
      }),
      { numRuns: 500 },
    );
  });
});

function outcomeOf(landing: Landing, decision: Decision<LandingEvent>): string {
  if (decision.kind === 'decided') return placeOf(decision.events.reduce<Landing>(evolveLanding, landing));
  return { wrong_status: 'wrong', already_landing: 'late' }[decision.refusal.code as string] ?? '';
}

/** What is missing from a refusal: a sentence that names the task, and a command. */
function unexplained(decision: Decision<LandingEvent>): readonly string[] {
  if (decision.kind === 'decided') return [];
  const { reason, next } = decision.refusal;
  return [
    ...(/cp-0001.*[^.]\.$/.test(reason) ? [] : [reason]),
    ...next.filter((command) => !/^copse \w+/.test(command)),
  ];
}
