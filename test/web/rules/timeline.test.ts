/** The timeline of a task: its events in sections, read page by page. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { BoardEvent } from '../../../packages/copse/src/board/rules/event.ts';
import type { Client } from '../../../packages/web/src/api/client.ts';
import { allEvents, eventPages } from '../../../packages/web/src/api/events.ts';
import type { InputOf, OutputOf } from '../../../packages/web/src/api/operations.ts';
import {
  type Numbered,
  hasEarlier,
  merged,
  withNewest,
} from '../../../packages/web/src/pages/task/timeline/event-pages.ts';
import {
  type TimelineSection,
  timelineSections,
} from '../../../packages/web/src/pages/task/timeline/sections.ts';
import { Model, anyStep } from '../../support/records/world.ts';

type Said = readonly [type: string, id: string, data?: object];

/** A second lies between two events. */
function sectionsOf(said: readonly Said[]): readonly TimelineSection[] {
  return timelineSections(
    said.map(([type, id, data], index) => ({
      number: index + 1,
      event: { type, id, at: index * 1_000, ...data } as unknown as BoardEvent,
    })),
  );
}

const claim = (attempt: string, session: string, more: object = {}) => ({
  claim: { attempt, session, agent: 'ada', ...more },
});
const started = (attempt: string, session: string): Said => ['attempt.started', attempt, { session }];

const crashedThenLanded: readonly Said[] = [
  ['task.created', 'cp-1', { status: 'ready' }],
  ['task.claimed', 'cp-1', claim('at-1', 'se-1')],
  ['session.opened', 'se-1', { agent: 'ada', follows: null, phase: 'registered' }],
  started('at-1', 'se-1'),
  ['session.advanced', 'se-1', { phase: 'planning' }],
  ['session.advanced', 'se-1', { phase: 'working' }],
  ['task.crashed', 'cp-1', { reason: 'killed', retries: 1, delay: null }],
  ['attempt.ended', 'at-1', { reason: 'crashed' }],
  ['task.claimed', 'cp-1', claim('at-2', 'se-2')],
  ['session.opened', 'se-2', { agent: 'ada', follows: 'se-1', phase: 'working' }],
  started('at-2', 'se-2'),
  ['task.handed_back', 'cp-1', { because: 'dirty', reason: 'dirty', grant: null }],
  ['task.queued', 'cp-1', { landing: 'la-1' }],
  ['landing.queued', 'la-1', { target: 'main' }],
  ['session.completed', 'se-2', {}],
  ['attempt.ended', 'at-2', { reason: 'completed' }],
  ['ledger.added', 'le-1', { session: 'se-1', kind: 'learning', text: 'late' }],
  ['task.done', 'cp-1', { how: 'landed', commit: 'ab' }],
  ['landing.landed', 'la-1', { commit: 'ab' }],
];

describe('the sections of a timeline', () => {
  test('are what came before, each attempt and each landing, the newest first', () => {
    const [landing, second, first, start, ...others] = sectionsOf(crashedThenLanded);
    expect(others).toStrictEqual([]);
    expect(landing).toMatchObject({
      kind: 'landing',
      target: 'main',
      result: { text: 'landed', mark: 'good' },
    });
    expect(second).toMatchObject({
      kind: 'attempt',
      attempt: 'at-2',
      conversation: 'follows',
      phases: ['working'],
      handbacks: 1,
      from: 8_000,
      to: 12_000,
      result: { text: 'finished', mark: 'good' },
    });
    expect(first).toMatchObject({
      attempt: 'at-1',
      agent: 'ada',
      conversation: 'new',
      phases: ['planning', 'working'],
      result: { text: 'crashed', mark: 'bad' },
    });
    expect(start).toMatchObject({ kind: 'start', events: [{ number: 1 }] });
  });

  test('have what is told late about their session, attempt or landing', () => {
    const [landing, second, first] = sectionsOf(crashedThenLanded);
    const types = (section: TimelineSection | undefined) => section?.events.map(({ event }) => event.type);
    expect(types(landing)).toStrictEqual(['landing.landed', 'task.done', 'landing.queued']);
    expect(types(second)?.slice(0, 2)).toStrictEqual(['attempt.ended', 'session.completed']);
    expect(types(first)?.[0]).toBe('ledger.added');
  });

  test('a landing that is handed back ends, and the attempt that it begins follows', () => {
    const [attempt, landing] = sectionsOf([
      ...crashedThenLanded.slice(0, 14),
      ['landing.conflicted', 'la-1', { files: ['a'], with: [] }],
      ['task.handed_back', 'cp-1', { because: 'conflict', reason: 'a', grant: claim('at-3', 'se-2') }],
      ['session.reopened', 'se-2', { phase: 'working' }],
      started('at-3', 'se-2'),
    ]);
    expect(landing).toMatchObject({ kind: 'landing', result: { text: 'handed back' } });
    expect(attempt).toMatchObject({ attempt: 'at-3', conversation: 'continues', result: undefined });
    expect(attempt?.events.map(({ event }) => event.type)).toStrictEqual([
      'attempt.started',
      'session.reopened',
    ]);
  });

  test('work by hand is a section, and a landing that returns to the queue goes on', () => {
    const [landing, byHand] = sectionsOf([
      ['task.created', 'cp-1', { status: 'ready' }],
      ['task.claimed', 'cp-1', claim('at-1', 'se-1', { agent: 'anna', isByHand: true })],
      ['task.queued', 'cp-1', { landing: 'la-1' }],
      ['landing.queued', 'la-1', { target: 'main' }],
      ['task.needs_attention', 'cp-1', { because: 'push', reason: 'no' }],
      ['landing.requeued', 'la-1', { reason: 'again' }],
    ]);
    expect(byHand).toMatchObject({ kind: 'attempt', isByHand: true, agent: 'anna' });
    expect(landing).toMatchObject({ kind: 'landing', result: undefined });
  });

  test('without the first events the rest is shown all the same', () => {
    expect(sectionsOf(crashedThenLanded.slice(5)).at(-1)).toMatchObject({ kind: 'earlier' });
    expect(sectionsOf([])).toStrictEqual([]);
  });

  test('have each event once, in order, whatever happens on a board', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { minLength: 5, maxLength: 80 }), fc.nat(20), (steps, cut) => {
        const model = new Model();
        model.create(0);
        for (const step of steps) {
          const decided = model.decide({ ...step, which: 0 });
          if (decided !== undefined) model.record(decided.decision);
        }
        const events = model.events.map((event, index) => ({ number: index + 1, event })).slice(cut);
        const sections = timelineSections(events);
        const numbers = sections.flatMap((section) => section.events.map(({ number }) => number));
        expect(numbers.toSorted((a, b) => a - b)).toStrictEqual(events.map(({ number }) => number));
        for (const section of sections)
          expect(section.events).toStrictEqual(section.events.toSorted((a, b) => b.number - a.number));
      }),
    );
  });
});

describe('the pages of a timeline', () => {
  const events = (from: number, to: number): readonly Numbered[] =>
    Array.from({ length: to - from + 1 }, (_, at) => ({ number: from + at, type: 'task.edited' }));
  const numbers = (list: readonly Numbered[]) => list.map(({ number }) => number);

  test('the newest page is added to what was read, each event once', () => {
    expect(numbers(withNewest(events(1, 12), events(10, 15), true))).toStrictEqual(numbers(events(1, 15)));
    expect(numbers(withNewest([], events(10, 15), true))).toStrictEqual(numbers(events(10, 15)));
    expect(numbers(merged(events(1, 6), events(5, 9)))).toStrictEqual(numbers(events(1, 9)));
  });

  test('where events may be missing between, only the newest page stays', () => {
    expect(numbers(withNewest(events(1, 8), events(10, 15), true))).toStrictEqual(numbers(events(10, 15)));
    expect(numbers(withNewest(events(1, 8), events(10, 15), false))).toHaveLength(14);
  });

  test('there is more until the task was created, or a look before finds nothing', () => {
    expect(hasEarlier(events(10, 15), undefined)).toBe(true);
    expect(hasEarlier(events(10, 15), 10)).toBe(false);
    expect(hasEarlier([{ number: 1, type: 'task.created' }, ...events(10, 15)], undefined)).toBe(false);
    expect(hasEarlier([], undefined)).toBe(false);
  });
});

/** A board of large events, of which a page has three, and one comes with each page. */
function largeEvents() {
  const asked: InputOf<'event.list'>[] = [];
  const call = async (_: string, input: InputOf<'event.list'>): Promise<OutputOf<'event.list'>> => {
    asked.push(input);
    const latest = 10 + asked.length;
    const after = input.last === undefined ? Number(input.after?.split(':')[1]) : latest - input.last;
    const end = Math.min(after + 3, latest);
    const events = Array.from({ length: end - after }, (_none, at) => ({ number: after + at + 1 }));
    return { events, lost: null, cursor: `1:${end}`, hasMore: end < latest } as OutputOf<'event.list'>;
  };
  return { asked, client: { call } as unknown as Pick<Client, 'call'> };
}

test('large events are read to the newest, each once, although pages end early and events come meanwhile', async () => {
  const { asked, client } = largeEvents();
  const { events, hasMore } = await allEvents(client, { task: 'cp-aaaa', last: 5, limit: 5 });
  expect(events.map(({ number }) => number)).toStrictEqual([7, 8, 9, 10, 11, 12]);
  expect(hasMore).toBe(false);
  expect(asked[1]).toStrictEqual({ task: 'cp-aaaa', limit: 5, after: '1:9' });
});

test('large events are read no further than wanted', async () => {
  const { asked, client } = largeEvents();
  for await (const { events } of eventPages(client, { last: 9 })) if (events.length > 0) break;
  expect(asked).toHaveLength(1);
});
