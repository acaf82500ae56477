/** The world of a page: a snapshot and the events after it make what all events make. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { SessionEvent } from '../../../packages/copse/src/agents/rules/session/session.ts';
import { type BoardEvent, type World, replay } from '../../../packages/copse/src/board/rules/event.ts';
import { type AgentName, type SessionId, brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import { noUsage } from '../../../packages/copse/src/kernel/usage.ts';
import { dataView } from '../../../packages/copse/src/operations/views/data-view.ts';
import { type Landing, openLandingStatuses } from '../../../packages/copse/src/queue/rules/landing.ts';
import { isFinished } from '../../../packages/copse/src/tasks/rules/task.ts';
import {
  LeftOut,
  type NumberedEvent,
  type WorldAt,
  afterEvents,
  emptyWorld,
  worldOfSnapshot,
} from '../../../packages/web/src/store/world.ts';
import { Model, type Step, anyStep } from '../../support/records/world.ts';

const histories = fc.array(anyStep, { minLength: 10, maxLength: 60 });

function numbered(steps: readonly Step[]): readonly NumberedEvent[] {
  const model = new Model();
  for (const which of [0, 1, 2]) model.create(which);
  for (const step of steps) {
    const decided = model.decide(step);
    if (decided !== undefined) model.record(decided.decision);
  }
  return withSessions(model.events).map((event, index) => ({ number: index + 1, event }));
}

/** The model has tasks and landings only: a session begins or goes on before its task is claimed, and ends with it. */
function withSessions(events: readonly BoardEvent[]): readonly BoardEvent[] {
  const tasks = new Map<string, SessionId>();
  const known = new Set<SessionId>();
  const before = (event: BoardEvent): readonly SessionEvent[] => {
    const { at } = event;
    if (event.type === 'task.claimed' || event.type === 'task.resumed') {
      const { session: id } = event.claim;
      tasks.set(event.id, id);
      if (known.has(id)) return [{ type: 'session.reopened', id, at, phase: 'working' as const }];
      known.add(id);
      const of = { task: event.id, agent: brand<AgentName>('coder'), workItem: null, follows: null };
      return [{ type: 'session.opened', id, at, ...of, phase: 'working' }];
    }
    const id = tasks.get(event.id);
    if (event.type !== 'task.done' || id === undefined) return [];
    return [{ type: 'session.completed', id, at }];
  };
  return events.flatMap((event) => [...before(event), event]);
}

/** What the server's snapshot has, and what pages show: see liveRecords in server/snapshot.ts. */
function liveOf(world: World): World {
  const shownSessions = new Set<string | null>(
    [...world.task.values()].filter(({ state }) => !isFinished(state.status)).map(({ session }) => session),
  );
  const session = new Map([...world.session].filter(([id]) => shownSessions.has(id)));
  const landing = new Map([...world.landing].filter(([, { state }]) => isOpen(state)));
  return { ...world, session, landing };
}

function isOpen({ status }: Landing['state']): boolean {
  return openLandingStatuses.some((one) => one === status);
}

/** As the server sends it: never between a session's event and that of its task, which are one transaction. */
function snapshotAt(events: readonly NumberedEvent[], from: number): WorldAt {
  const at = events[from - 1]?.event.type.startsWith('session.') ? from + 1 : from;
  const world = liveOf(replay(events.slice(0, at).map(({ event }) => event)));
  const records = Object.fromEntries(Object.entries(world).map(([kind, map]) => [kind, [...map.values()]]));
  return worldOfSnapshot({ at, records: JSON.parse(JSON.stringify(dataView(records))) as unknown });
}

/** As a page does it: a session that was left out makes it begin anew with a snapshot. */
function followed(
  all: readonly NumberedEvent[],
  before: WorldAt,
  portion: readonly NumberedEvent[],
): WorldAt {
  try {
    return afterEvents(before, portion);
  } catch (error) {
    if (!(error instanceof LeftOut)) throw error;
    return snapshotAt(all, portion.at(-1)?.number ?? 0);
  }
}

function comparable(world: World): unknown {
  const text = JSON.stringify(world, (key, value: unknown) =>
    value instanceof Map ? [...value].toSorted(([a], [b]) => (a < b ? -1 : 1)) : key === 'body' ? '' : value,
  );
  return JSON.parse(text);
}

describe('after a snapshot at any number, with events in any portions and some of them twice', () => {
  test('it is what all events make', () => {
    fc.assert(
      fc.property(
        histories,
        fc.nat(),
        fc.integer({ min: 1, max: 9 }),
        fc.nat(5),
        (steps, cut, size, twice) => {
          const events = numbered(steps);
          const at = cut % (events.length + 1);
          let now = snapshotAt(events, at);
          for (let from = Math.max(0, at - twice); from < events.length; from += size)
            now = followed(
              events,
              now,
              events
                .slice(from, from + size + twice)
                .flatMap((one) => Array.from({ length: 1 + (twice % 2) }, () => one)),
            );
          expect(now.at).toBe(events.length);
          expect(comparable(liveOf(now.world))).toEqual(
            comparable(liveOf(replay(events.map(({ event }) => event)))),
          );
        },
      ),
      { numRuns: 100 },
    );
  });

  test('and from nothing too, which is what the time slider does', () => {
    fc.assert(
      fc.property(histories, (steps) => {
        const events = numbered(steps);
        expect(comparable(afterEvents(emptyWorld, events).world)).toEqual(
          comparable(replay(events.map(({ event }) => event))),
        );
      }),
      { numRuns: 20 },
    );
  });
});

test('kinds that no event is about stay the same maps, so that pages do not draw them again', () => {
  const events = numbered([]);
  const before = afterEvents(emptyWorld, events);
  const after = afterEvents(before, []);
  expect(after).toBe(before);
  expect(before.world.landing).toBe(emptyWorld.world.landing);
  expect(before.world.task).not.toBe(emptyWorld.world.task);
});

test('a session that goes on after the snapshot left it out is not passed over, its late costs are', () => {
  const id = brand<SessionId>('se-1');
  const event = { id, at: timestamp(1) };
  const usage = { type: 'session.used', ...event, usage: noUsage } as const;
  expect(afterEvents(emptyWorld, [{ number: 1, event: usage }]).world.session.size).toBe(0);
  const reopened = { type: 'session.reopened', ...event, phase: 'working' } as const;
  expect(() => afterEvents(emptyWorld, [{ number: 1, event: reopened }])).toThrow(LeftOut);
});
