/** The records of a board are what its events make of them, through whatever the tasks went. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  type AnyRecord,
  type BoardEvent,
  type RecordKind,
  replay,
} from '../../../packages/copse/src/board/rules/event.ts';
import { type EventNumber, type TaskId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import type { LandingEvent } from '../../../packages/copse/src/queue/rules/landing.ts';
import type { TaskEvent } from '../../../packages/copse/src/tasks/rules/events.ts';
import { Model, type Step, anyStep } from '../../support/records/world.ts';
import { engines, newPlace, person } from '../../support/board/boards.ts';

const histories = fc.array(anyStep, { minLength: 30, maxLength: 80, size: 'max' });

/** Every kind of thing that can happen to a task or a landing; the compiler sees to it that none is missing. Only a new server raises tokens. */
const everyType: Readonly<Record<Exclude<(TaskEvent | LandingEvent)['type'], 'task.token_raised'>, true>> = {
  'task.created': true,
  'task.edited': true,
  'task.dependencies_changed': true,
  'task.promoted': true,
  'task.moved': true,
  'task.reset': true,
  'task.claimed': true,
  'task.resumed': true,
  'task.restarted': true,
  'task.handed_back': true,
  'task.sent_to_review': true,
  'task.pull_request_changed': true,
  'task.queued': true,
  'task.done': true,
  'task.stuck': true,
  'task.crashed': true,
  'task.failed': true,
  'task.parked': true,
  'task.needs_attention': true,
  'task.paused': true,
  'task.cancelled': true,
  'task.deleted': true,
  'landing.queued': true,
  'landing.merging': true,
  'landing.checking': true,
  'landing.journalled': true,
  'landing.hurried': true,
  'landing.checks_skipped': true,
  'landing.noted': true,
  'landing.landed': true,
  'landing.requeued': true,
  'landing.waiting': true,
  'landing.conflicted': true,
  'landing.rejected': true,
  'landing.withdrawn': true,
};

/** Of many histories, always the same, those in which something happens for the first time. */
function historiesThatHaveEverything(): readonly (readonly Step[])[] {
  const seen = new Set<string>();
  return fc.sample(histories, { seed: 11, numRuns: 3_000 }).filter((steps) => {
    const before = seen.size;
    for (const event of told(steps)) seen.add(event.type);
    return seen.size > before;
  });
}

function told(steps: readonly Step[]): readonly BoardEvent[] {
  const model = new Model();
  for (const which of [0, 1, 2]) model.create(which);
  for (const step of steps) {
    const result = model.decide(step);
    if (result) model.record(result.decision);
  }
  return model.events;
}

describe.each(engines)('on %s', (engine) => {
  /** A history, step by step on a board and in memory; afterwards both must tell the same. */
  async function live(steps: readonly Step[]): Promise<readonly BoardEvent[]> {
    await using place = await newPlace(engine);
    const board = await place.open();
    const model = new Model();
    const recordNew = async (act: () => void) => {
      const before = model.events.length;
      act();
      const events = model.events.slice(before);
      if (events.length > 0) await board.transact((transaction) => transaction.record(person, events));
    };

    for (const which of [0, 1, 2]) await recordNew(() => model.create(which));
    for (const step of steps) {
      await recordNew(() => {
        const result = model.decide(step);
        if (result) model.record(result.decision);
      });
    }

    const stored = await board.events({ after: brand<EventNumber>(0), limit: 10_000 });
    expect(stored.map(({ event }) => event)).toEqual(model.events);
    const told = replay(stored.map(({ event }) => event));
    for (const [key, expected] of model.records) {
      const [kind, id] = key.split(' ') as [RecordKind, string];
      expect(await board.get(kind, id)).toEqual(expected);
      expect((told[kind] as ReadonlyMap<string, AnyRecord>).get(id)).toEqual(expected);
    }
    const onBoard = await board.tasks({ order: 'urgent' });
    expect(onBoard.map((task) => task.id).toSorted()).toEqual([...told.task.keys()].toSorted());
    for (const which of [0, 1, 2]) {
      const task = model.task(which);
      const lease = await board.lease(brand<TaskId>(`cp-000${which}`));
      const claim = task?.state.status === 'in_progress' ? task.state.claim : undefined;
      expect(lease?.token).toBe(claim?.token);
    }
    return model.events;
  }

  // promise: event-with-change
  it('every transition is recorded with its event, and replaying the events gives the records', async () => {
    const seen = new Set<string>();
    for (const steps of historiesThatHaveEverything()) {
      for (const event of await live(steps)) seen.add(event.type);
    }
    expect(Object.keys(everyType).filter((type) => !seen.has(type))).toEqual([]);
  });

  it('the same holds for any other history', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (steps) => void (await live(steps))),
      { numRuns: 5, endOnFailure: true },
    );
  });
});
