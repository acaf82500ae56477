import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { evolveAttempt } from '../../../packages/copse/src/tasks/rules/attempt.ts';
import type { Decision } from '../../../packages/copse/src/kernel/decision.ts';
import { brand, fencingToken, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import type {
  AgentName,
  AttemptId,
  NodeId,
  SessionId,
  TaskId,
} from '../../../packages/copse/src/kernel/ids.ts';
import {
  type EndReason,
  type OpenPhase,
  type Session,
  type SessionAction,
  type SessionEvent,
  type SessionLife,
  type SessionRequest,
  decideFollowUp,
  decideSession,
  endReason,
  evolveSession,
  interruptions,
  openPhases,
  sessionTransitions,
} from '../../../packages/copse/src/agents/rules/session/session.ts';

const at = timestamp(1_000);
const later = timestamp(2_000);

const about = { task: brand<TaskId>('cp-0001'), agent: brand<AgentName>('coder'), workItem: 'github#12' };
const id = brand<SessionId>('se-1');
const opened = { type: 'session.opened', id, at, ...about, follows: null, phase: 'registered' } as const;

const unused = { usage: { input: 0, cached: 0, output: 0, dollars: null }, question: null };

const phases = 'registered planning planning_complete working shipping reviews_in_progress pr_ready'.split(
  ' ',
) as OpenPhase[];

const requests: Readonly<Record<SessionAction, SessionRequest>> = {
  advance: { action: 'advance', phase: 'pr_ready' },
  attend: { action: 'attend', attention: 'permission' },
  converse: { action: 'converse', conversation: 'c-1' },
  use: { action: 'use', usage: { input: 10, cached: 100, output: 5, dollars: 0.25 } },
  ask: { action: 'ask', question: { id: 'qu-1', tool: 'Bash', what: 'rm -rf build' } },
  answer: { action: 'answer', isAllowed: true, message: null },
  take_over: { action: 'take_over', person: 'anna', isKept: false },
  give_back: { action: 'give_back', because: 'asked' },
  complete: { action: 'complete' },
  stick: { action: 'stick', reason: 'JWT or cookies?' },
  interrupt: { action: 'interrupt', because: 'paused' },
  cancel: { action: 'cancel' },
  reopen: { action: 'reopen' },
  handback: { action: 'handback' },
};
const { advance, attend, converse, use, ask, answer, complete, stick, interrupt, cancel, reopen, handback } =
  requests;
const { take_over: takeOver, give_back: giveBack } = requests;

/** Where each action leads from each life; - where it is refused. */
const table = `
              live         interrupted  stuck        complete   cancelled
  advance     live         -            -            -          -
  attend      live         -            -            -          -
  converse    live         -            -            -          -
  use         live         -            -            -          -
  ask         live         -            -            -          -
  answer      live         -            -            -          -
  take_over   live         -            -            -          -
  give_back   live         -            -            -          -
  complete    complete     -            -            -          -
  stick       stuck        stuck        -            stuck      -
  interrupt   interrupted  -            interrupted  -          -
  cancel      cancelled    cancelled    cancelled    cancelled  -
  reopen      -            live         -            live       -
  handback    live         -            -            live       -
`;

const [lives, ...rows] = table
  .trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/)) as [SessionLife[], ...[SessionAction, ...string[]][]];
const cells = rows.flatMap(([action, ...leads]) =>
  lives.map((life, column) => ({ action, life, leads: leads[column] ?? '' })),
);
const leadsTo = (action: SessionAction, from: SessionLife) =>
  cells.find((cell) => cell.action === action && cell.life === from)?.leads;

const wayTo: Readonly<Record<SessionLife, readonly SessionRequest[]>> = {
  live: [ask, takeOver],
  interrupted: [interrupt],
  stuck: [stick],
  complete: [complete],
  cancelled: [cancel],
};

function sessionIn(phase: OpenPhase, ...way: readonly SessionRequest[]): Session {
  return way.reduce(take, evolveSession(undefined, { ...opened, phase }));
}

function take(session: Session, request: SessionRequest): Session {
  const decision = decideSession(session, request, later);
  if (decision.kind === 'refused') throw new Error(decision.refusal.reason);
  return decision.events.reduce<Session>(evolveSession, session);
}

describe('the phases of a session', () => {
  it('come in the order of the specification', () => {
    expect(openPhases).toEqual(phases);
  });

  const pairs = phases.flatMap((from) => phases.map((to) => ({ from, to })));
  const isBackward = ({ from, to }: { from: OpenPhase; to: OpenPhase }) =>
    phases.indexOf(to) < phases.indexOf(from);

  it.each(pairs.filter((pair) => !isBackward(pair)))('may move from $from to $to', ({ from, to }) => {
    const { state } = sessionIn(from, { action: 'advance', phase: to });
    expect(state).toEqual({ life: 'live', phase: to, attention: null });
  });

  it.each(pairs.filter(isBackward))('never move back from $from to $to', ({ from, to }) => {
    const session = sessionIn(from);
    const decision = decideSession(session, { action: 'advance', phase: to }, later);
    if (decision.kind === 'decided') throw new Error('it went backward');
    const { code, reason, next } = decision.refusal;
    expect([code, reason]).toEqual(['backward', `Session se-1 cannot go back from ${from} to ${to}.`]);
    if (from === 'pr_ready') {
      expect(next).toEqual(['copse finish']);
      return;
    }
    const suggested = /^copse phase (\w+)$/.exec(next[0])?.[1] as OpenPhase;
    expect(decideSession(session, { action: 'advance', phase: suggested }, later).kind).toBe('decided');
  });

  it('suggest the next phase to an agent that tried to go back', () => {
    const decision = decideSession(sessionIn('working'), { action: 'advance', phase: 'planning' }, later);
    expect(decision).toMatchObject({ refusal: { next: ['copse phase shipping'] } });
  });

  it.each(phases)('can end from %s in complete, stuck and cancelled', (phase) => {
    const ends = [complete, stick, cancel];
    expect(ends.map((end) => sessionIn(phase, end).state.phase)).toEqual(['complete', 'stuck', 'cancelled']);
  });

  it.each(phases)('are set back from %s to working by a handback', (phase) => {
    expect(sessionIn(phase, handback).state.phase).toBe('working');
    expect(sessionIn(phase, complete, handback).state.phase).toBe('working');
  });

  it.each(phases)('continue at %s when an interrupted session is reopened', (phase) => {
    for (const because of interruptions) {
      const session = sessionIn(phase, { action: 'interrupt', because }, reopen);
      expect(session.state).toEqual({ life: 'live', phase, attention: null });
    }
  });

  it('are at working when a complete session is resumed, or a stuck one that was paused', () => {
    expect(sessionIn('pr_ready', complete, reopen).state.phase).toBe('working');
    expect(sessionIn('planning', stick, interrupt, reopen).state.phase).toBe('working');
  });
});

describe('the session table', () => {
  it.each(cells)('$action from $life leads to $leads', ({ action, life, leads }) => {
    const session = sessionIn('working', ...wayTo[life]);
    expect(session.state.life).toBe(life);
    const row: Partial<Record<SessionLife, readonly SessionLife[]>> = sessionTransitions[action];
    expect(row[life] ?? ['-']).toEqual([leads]);
    const decision = decideSession(session, requests[action], later);
    expect(decision.kind === 'decided' ? take(session, requests[action]).state.life : '-').toBe(leads);
  });

  it('has no action besides these', () => {
    expect(Object.keys(sessionTransitions)).toEqual(rows.map(([action]) => action));
    expect(Object.keys(wayTo)).toEqual(lives);
  });

  it.each(cells.filter(({ leads }) => leads === '-'))('refuses $action from $life, saying why', (cell) => {
    const session = sessionIn('working', ...wayTo[cell.life]);
    expect(decideSession(session, requests[cell.action], later)).toEqual({
      kind: 'refused',
      refusal: {
        code: 'wrong_status',
        reason: `Cannot ${cell.action.replace('_', ' ')} session se-1 of cp-0001: it is ${cell.life}.`,
        next: ['copse show cp-0001'],
      },
    });
  });
});

describe('attention', () => {
  it.each(['permission', 'idle'] as const)(
    'for %s is raised and lowered without a change of phase',
    (flag) => {
      const waiting = sessionIn('shipping', { action: 'attend', attention: flag });
      expect(waiting.state).toEqual({ life: 'live', phase: 'shipping', attention: flag });
      expect(take(waiting, { action: 'attend', attention: null }).state).toMatchObject({ attention: null });
    },
  );

  it('ends when the agent reports a phase or is asked again', () => {
    const waiting = sessionIn('working', attend);
    for (const request of [advance, handback])
      expect(take(waiting, request).state).toMatchObject({ life: 'live', attention: null });
  });

  it('belongs to a live session only', () => {
    for (const end of [complete, stick, interrupt, cancel])
      expect(sessionIn('working', attend, end).state).not.toHaveProperty('attention');
    expect(sessionIn('working', attend, interrupt, reopen).state).toMatchObject({
      attention: null,
    });
  });
});

describe('a question', () => {
  it('raises attention, keeps its answer, and lowers it again', () => {
    const waiting = sessionIn('shipping', ask);
    expect(waiting.state).toEqual({ life: 'live', phase: 'shipping', attention: 'permission' });
    expect(waiting.question).toEqual({ id: 'qu-1', tool: 'Bash', what: 'rm -rf build', answer: null });
    const answered = take(waiting, { action: 'answer', isAllowed: false, message: 'Not that.' });
    expect(answered.state).toMatchObject({ attention: null });
    expect(answered.question?.answer).toEqual({ isAllowed: false, message: 'Not that.' });
  });

  it('is answered once, and not without an open question', () => {
    for (const session of [sessionIn('working'), sessionIn('working', ask, answer)]) {
      expect(decideSession(session, answer, later)).toMatchObject({
        kind: 'refused',
        refusal: {
          code: 'wrong_status',
          reason: 'Session se-1 of cp-0001 has no open question.',
        },
      });
    }
  });
});

describe('what a session used', () => {
  it('is summed over all its attempts; dollars are unknown until a program reports them', () => {
    const silent = { input: 1, cached: 2, output: 3, dollars: null };
    const quiet = sessionIn('working', { action: 'use', usage: silent });
    expect(quiet.usage).toEqual(silent);
    const both = [use, interrupt, reopen, use].reduce(take, quiet);
    expect(both.usage).toEqual({ input: 21, cached: 202, output: 13, dollars: 0.5 });
  });
});

describe('the end of a session', () => {
  const ends: readonly (readonly [EndReason, SessionRequest])[] = [
    ['completed', complete],
    ['stuck', stick],
    ['crashed', { action: 'interrupt', because: 'crashed' }],
    ['paused', { action: 'interrupt', because: 'paused' }],
    ['cancelled', cancel],
    ['timed_out', { action: 'interrupt', because: 'timed_out' }],
    ['over_budget', { action: 'interrupt', because: 'over_budget' }],
    ['rate_limited', { action: 'interrupt', because: 'rate_limited' }],
  ];

  it.each(ends)('has the reason %s and its time', (reason, request) => {
    const { state } = sessionIn('working', request);
    expect(endReason(state)).toBe(reason);
    expect(state).toMatchObject({ at: later });
  });

  it('has no reason while the session is live, also after an earlier end', () => {
    expect(endReason(sessionIn('planning').state)).toBeNull();
    expect(endReason(sessionIn('planning', interrupt, reopen).state)).toBeNull();
  });

  it('keeps the question of a stuck session', () => {
    expect(sessionIn('working', stick).state).toMatchObject({ reason: 'JWT or cookies?' });
  });
});

describe('a conversation', () => {
  it('is unknown at first and then kept through every end and every return', () => {
    expect(sessionIn('registered').conversation).toBeNull();
    const returns = [
      [interrupt, reopen],
      [complete, reopen],
      [complete, handback],
      [advance, attend, stick, cancel],
    ];
    for (const way of returns) {
      const { state: _, ...kept } = sessionIn('registered', converse, ...way);
      expect(kept).toEqual({ id, ...about, follows: null, ...unused, conversation: 'c-1', startedAt: at });
    }
  });

  it('starts new in the next session, which has the same task and names its predecessor', () => {
    const previous = sessionIn('planning', converse, stick);
    const decision = decideFollowUp(previous, brand<SessionId>('se-2'), later);
    if (decision.kind === 'refused') throw new Error(decision.refusal.reason);
    expect(evolveSession(undefined, decision.events[0])).toEqual({
      id: 'se-2',
      ...about,
      follows: 'se-1',
      ...unused,
      conversation: null,
      startedAt: later,
      state: { life: 'live', phase: 'working', attention: null },
    });
  });
});

describe('whatever happens to a session', () => {
  const anyRequest = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.constantFrom<SessionRequest>(
        attend,
        converse,
        use,
        ask,
        answer,
        complete,
        stick,
        handback,
      ),
    },
    {
      weight: 5,
      arbitrary: fc.constantFrom(...phases.map((phase) => ({ action: 'advance', phase }) as const)),
    },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        ...interruptions.map((because) => ({ action: 'interrupt', because }) as const),
      ),
    },
    { weight: 4, arbitrary: fc.constant(reopen) },
    { weight: 1, arbitrary: fc.constant(cancel) },
  );
  const walks = fc.array(anyRequest, { minLength: 1, maxLength: 60, size: 'max' });
  const fieldsOf: Readonly<Record<SessionLife, readonly string[]>> = {
    live: ['attention', 'life', 'phase'],
    interrupted: ['at', 'because', 'life', 'phase'],
    stuck: ['at', 'life', 'phase', 'reason'],
    complete: ['at', 'life', 'phase'],
    cancelled: ['at', 'life', 'phase'],
  };

  function walkAlong(
    walk: readonly SessionRequest[],
    look: (before: Session, after: Session, request: SessionRequest) => void,
  ): { readonly session: Session; readonly events: readonly SessionEvent[] } {
    let session = sessionIn('registered');
    const events: SessionEvent[] = [opened];
    for (const [step, request] of walk.entries()) {
      const decision = decideSession(session, request, timestamp(later + step));
      if (decision.kind === 'decided') {
        const before = session;
        session = decision.events.reduce<Session>(evolveSession, session);
        events.push(...decision.events);
        look(before, session, request);
      }
      expect(unexplained(decision)).toEqual([]);
    }
    return { session, events };
  }

  it('leads along an arrow of the table, or is refused with a reason and a command', () => {
    fc.assert(
      fc.property(walks, (walk) => {
        walkAlong(walk, (before, { state }, request) => {
          expect(state.life).toBe(leadsTo(request.action, before.state.life));
          expect(Object.keys(state).toSorted()).toEqual(fieldsOf[state.life]);
          const isOpen = state.life === 'live' || state.life === 'interrupted';
          expect(isOpen ? openPhases : [state.life]).toContain(state.phase);
        });
      }),
      { numRuns: 500 },
    );
  });

  it('moves its phase backward only by a handback or by a restart after an end', () => {
    const rank = ({ state }: Session) => openPhases.findIndex((phase) => phase === state.phase);
    fc.assert(
      fc.property(walks, (walk) => {
        const backward = new Set<string>();
        walkAlong(walk, (before, after, { action }) => {
          const bothLive = before.state.life === 'live' && after.state.life === 'live';
          if (bothLive && rank(after) < rank(before)) backward.add(action);
        });
        expect([...backward].filter((action) => action !== 'handback')).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('is the same when replayed from its events', () => {
    fc.assert(
      fc.property(walks, (walk) => {
        const { session, events } = walkAlong(walk, () => {});
        const [first, ...others] = JSON.parse(JSON.stringify(events)) as [SessionEvent, ...SessionEvent[]];
        expect(others.reduce<Session>(evolveSession, evolveSession(undefined, first))).toEqual(session);
      }),
      { numRuns: 500 },
    );
  });
});

describe('an attempt', () => {
  const of = { id: brand<AttemptId>('at-1'), at: later } as const;
  const whose = {
    session: opened.id,
    task: opened.task,
    node: brand<NodeId>('no-1'),
    token: fencingToken(3),
  };

  it('has its session, its process and its outcome', () => {
    const fresh = evolveAttempt(undefined, { type: 'attempt.started', ...of, at, ...whose });
    expect(fresh).toEqual({ id: 'at-1', ...whose, startedAt: at, process: null, end: null });
    const running = evolveAttempt(fresh, { type: 'attempt.process_known', ...of, pid: 42, startTime: 7 });
    expect(running).toEqual({ ...fresh, process: { pid: 42, startTime: 7 } });
    const end = { reason: 'timed_out', exitCode: null } as const;
    expect(evolveAttempt(running, { type: 'attempt.ended', ...of, ...end })).toEqual({
      ...running,
      end: { at: later, ...end },
    });
  });
});

/** What is missing from a refusal: a sentence that names the session, and a command. */
function unexplained(decision: Decision<SessionEvent>): readonly string[] {
  if (decision.kind === 'decided') return [];
  const { reason, next } = decision.refusal;
  return [
    ...(/se-1.*[^.]\.$/.test(reason) ? [] : [reason]),
    ...next.filter((command) => !/^copse \w+/.test(command)),
  ];
}

describe('the terminal of a session', () => {
  it('is taken over by one person at a time, who is named to others with the command that gives it back', () => {
    const session = sessionIn('working', takeOver);
    expect(session.takenOver).toEqual({ person: 'anna', isKept: false, at: later });
    const decision = decideSession(session, { action: 'take_over', person: 'ben', isKept: false }, later);
    expect(decision).toMatchObject({
      refusal: {
        reason: 'anna has taken over the terminal of cp-0001.',
        next: ['copse give-back cp-0001', expect.any(String)],
      },
    });
    expect(take(session, giveBack)).toEqual(sessionIn('working'));
    expect(decideSession(sessionIn('working'), giveBack, later)).toMatchObject({ kind: 'refused' });
  });

  it.each([complete, stick, interrupt, cancel, handback])(
    'goes back to its agent with $action',
    (request) => {
      expect(sessionIn('working', takeOver, request).takenOver).toBeUndefined();
    },
  );

  it.each([advance, attend, converse, use, ask])('stays taken over with $action', (request) => {
    expect(sessionIn('working', takeOver, request).takenOver).toBeDefined();
  });
});
