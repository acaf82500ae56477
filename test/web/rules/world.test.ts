/** The world of a page: a snapshot and the events after it make what all events make. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { type World, replay } from '../../../packages/copse/src/board/rules/event.ts';
import { dataView } from '../../../packages/copse/src/operations/views/data-view.ts';
import {
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
  return model.events.map((event, index) => ({ number: index + 1, event }));
}

/** As the server sends it. */
function snapshotAt(events: readonly NumberedEvent[], at: number): WorldAt {
  const world = replay(events.slice(0, at).map(({ event }) => event));
  const records = Object.fromEntries(Object.entries(world).map(([kind, map]) => [kind, [...map.values()]]));
  return worldOfSnapshot({ at, records: JSON.parse(JSON.stringify(dataView(records))) as unknown });
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
            now = afterEvents(
              now,
              events
                .slice(from, from + size + twice)
                .flatMap((one) => Array.from({ length: 1 + (twice % 2) }, () => one)),
            );
          expect(now.at).toBe(events.length);
          expect(comparable(now.world)).toEqual(comparable(replay(events.map(({ event }) => event))));
        },
      ),
      { numRuns: 60 },
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
