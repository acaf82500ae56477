/** Schedules on a shared board: any number of machines fire a time once, and a kill at any step loses and doubles nothing. */

import { describe, expect, it } from 'vitest';

import {
  fireDue,
  loadSchedules,
  pauseSchedule,
  resumeSchedule,
  runSchedule,
  setSchedules,
} from '../../../packages/copse/src/intake/act/schedules.ts';
import { ScheduleDuty } from '../../../packages/copse/src/intake/act/schedule-duty.ts';
import type { Intake, WaitingItem } from '../../../packages/copse/src/intake/ports/intake.ts';
import { replay } from '../../../packages/copse/src/board/rules/event.ts';
import type { Board } from '../../../packages/copse/src/board/port.ts';
import type { EventNumber } from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { change } from '../../../packages/copse/src/board/context.ts';
import { decideCancel } from '../../../packages/copse/src/tasks/rules/decisions.ts';
import { engines, newPlace } from '../../support/board/boards.ts';
import { must } from '../../support/records/tasks.ts';
import { FakeClock, intakeWith, machine, nightly } from '../../support/intake/machine.ts';

const problems: string[] = [];
const telling = { onProblem: (reason: string) => void problems.push(reason) };

async function titles(board: Board): Promise<readonly string[]> {
  return (await board.tasks({ order: 'urgent' })).map(({ title }) => title).toSorted();
}

/** Its records are what its events make of them. */
async function expectReplayed(board: Board): Promise<void> {
  const events = await board.events({ after: 0 as EventNumber, limit: 1_000 });
  const world = replay(events.map(({ event }) => event));
  expect(await board.list('schedule')).toEqual([...world.schedule.values()]);
}

// promise: schedule-once
describe.each(engines)('a schedule on %s', (engine) => {
  it('that two machines have is fired once by both together, time after time', async () => {
    await using place = await newPlace(engine);
    const clock = new FakeClock('2026-01-01T00:00Z');
    const [one, other] = [
      machine(await place.open(), clock, 'n-1'),
      machine(await place.open(), clock, 'n-2'),
    ];
    const intake = intakeWith({ ...nightly, overlap: 'queue' });
    await Promise.all([one, other, one, other].map((context) => setSchedules(context, intake, telling)));
    expect(await one.board.lastEvent()).toBe(1);
    for (const day of ['01', '02', '03']) {
      clock.set(`2026-01-${day}T06:00Z`);
      await Promise.all([one, other, one, other].map((context) => fireDue(context, intake, telling)));
      const [task] = await one.board.tasks({ statuses: ['ready'], order: 'urgent' });
      // Each has a run of its own: the one before has ended.
      must(
        await change(one, async (change) => {
          if (task === undefined) throw new Error(`Nothing was started on ${day}`);
          await change.apply(decideCancel(await change.require('task', task.id), undefined, null, change.at));
        }),
      );
    }
    const tasks = await other.board.tasks({ order: 'urgent' });
    expect(tasks.map(({ title, agent, origin }) => [title, agent, origin?.kind])).toEqual(
      Array.from({ length: 3 }, () => ['nightly: Update the dependencies', 'coder', 'schedule']),
    );
    expect(new Set(tasks.map(({ origin }) => origin?.kind === 'schedule' && origin.job)).size).toBe(3);
    expect(await titles(one.board)).toHaveLength(3);
    await expectReplayed(one.board);
    expect(problems).toEqual([]);
  });

  it.each(['decided', 'created', 'recorded'] as const)(
    'whose process is killed after "%s" is fired once by the next one',
    async (last) => {
      await using place = await newPlace(engine);
      const clock = new FakeClock('2026-01-01T00:00Z');
      const [one, other] = [machine(await place.open(), clock), machine(await place.open(), clock, 'n-2')];
      const intake = intakeWith(nightly);
      await setSchedules(one, intake, telling);
      clock.set('2026-01-01T06:00Z');
      const told: string[] = [];
      await fireDue(one, intake, {
        onProblem: (reason) => void told.push(reason),
        onStep(step) {
          if (step === last) throw new Error('killed');
        },
      });
      expect(told).toEqual(['coder/nightly: killed']);
      expect(await titles(other.board)).toEqual([]);
      await fireDue(other, intake, telling);
      await fireDue(one, intake, telling);
      expect(await titles(other.board)).toHaveLength(1);
      await expectReplayed(other.board);
    },
  );

  // setting: agents.<name>.schedules.<name>.work_source
  it('takes the item of its source in the transaction of its task, and starts nothing without one', async () => {
    await using place = await newPlace(engine);
    const clock = new FakeClock('2026-01-01T00:00Z');
    const context = machine(await place.open(), clock);
    const waiting: WaitingItem[] = ['12', '13'].map((item) => ({
      title: `Item ${item}`,
      body: 'Text of the item',
      workItem: { source: 'github', id: item, url: null },
      taken: () => [],
    }));
    const intake: Intake = {
      ...intakeWith({ ...nightly, prompt: null, workSource: 'github', overlap: 'queue', missed: 'all' }),
      items: { next: () => Promise.resolve(waiting.shift()) },
    };
    await setSchedules(context, intake, telling);
    clock.set('2026-01-01T06:00Z');
    await fireDue(context, intake, telling);
    const [task] = await context.board.tasks({ order: 'urgent' });
    expect(task).toMatchObject({
      title: 'Item 12',
      workItem: { source: 'github', id: '12' },
      agent: 'coder',
    });
    must(await runSchedule(context, intake, intake.schedules[0] ?? nightly));
    expect(await titles(context.board)).toEqual(['Item 12', 'Item 13']);
    expect(await runSchedule(context, intake, intake.schedules[0] ?? nightly)).toMatchObject({
      refusal: {
        reason: 'coder/nightly has nothing to do: the source github has no open item without a task.',
      },
    });
  });
});

describe('the schedules of copse.yml', () => {
  it('are set when an orchestrator starts: new ones, changed ones; those of other nodes stay', async () => {
    await using place = await newPlace('sqlite');
    const clock = new FakeClock('2026-01-01T00:00Z');
    const here = machine(await place.open(), clock, 'n-1');
    const there = machine(await place.open(), clock, 'n-2');
    const hourly = { ...nightly, timing: { type: 'interval', everyMs: 3_600_000 } } as const;
    const next = async () => (await here.board.list('schedule')).map(({ nextAt }) => nextAt);
    await setSchedules(here, intakeWith(nightly), telling);
    expect(await next()).toEqual([Date.parse('2026-01-01T06:00Z')]);
    // Not anew at each start.
    clock.set('2026-01-01T05:00Z');
    await setSchedules(here, intakeWith(nightly), telling);
    expect(await here.board.lastEvent()).toBe(1);
    // A copse.yml that does not have it, on another node, does not remove it.
    await setSchedules(there, intakeWith(), telling);
    expect(await next()).toHaveLength(1);
    await setSchedules(there, intakeWith(hourly), telling);
    expect(await next()).toEqual([Date.parse('2026-01-01T06:00Z')]);
    // The node whose times do not count any more starts nothing.
    clock.set('2026-01-01T06:00Z');
    expect(await fireDue(here, intakeWith(nightly), telling)).toEqual([]);
    expect(await fireDue(there, intakeWith(hourly), telling)).toHaveLength(1);
    await setSchedules(there, intakeWith(), telling);
    expect(await next()).toEqual([]);
    await expectReplayed(here.board);
  });

  it('that a command of another copse.yml touches keep their times; that another machine has others is told once', async () => {
    await using place = await newPlace('sqlite');
    const clock = new FakeClock('2026-01-01T00:00Z');
    const here = machine(await place.open(), clock, 'n-1');
    const there = machine(await place.open(), clock, 'n-2');
    const hourly = { ...nightly, timing: { type: 'interval', everyMs: 3_600_000 } } as const;
    const told: string[] = [];
    const duty = new ScheduleDuty({ ...here, intake: intakeWith(nightly) }, (reason) => told.push(reason));
    await duty.pass();
    must(await pauseSchedule(there, intakeWith(hourly), hourly));
    must(await resumeSchedule(there, intakeWith(hourly), hourly));
    must(await runSchedule(there, intakeWith(hourly), hourly));
    expect(await here.board.list('schedule')).toMatchObject([
      { timing: nightly.timing, definedBy: 'n-1', nextAt: Date.parse('2026-01-01T06:00Z') },
    ]);
    await duty.pass();
    expect(told).toEqual([]);
    await setSchedules(there, intakeWith(hourly), telling);
    await duty.pass();
    await duty.pass();
    expect(told).toEqual([expect.stringMatching(/^Schedule coder\/nightly .*n-2.*copse schedule show/)]);
    // The other one gives it up: it is defined here again.
    await setSchedules(there, intakeWith(), telling);
    await duty.pass();
    expect(await here.board.list('schedule')).toMatchObject([{ timing: nightly.timing, definedBy: 'n-1' }]);
  });

  it('do not start beside a run that goes on, although a person started another one meanwhile', async () => {
    await using place = await newPlace('sqlite');
    const clock = new FakeClock('2026-01-01T00:00Z');
    const context = machine(await place.open(), clock);
    const intake = intakeWith(nightly);
    await setSchedules(context, intake, telling);
    clock.set('2026-01-01T06:00Z');
    expect(await fireDue(context, intake, telling)).toMatchObject([{ task: {} }]);
    const { id } = must(await runSchedule(context, intake, nightly));
    must(
      await change(context, async (change) => {
        await change.apply(decideCancel(await change.require('task', id), undefined, null, change.at));
      }),
    );
    clock.set('2026-01-02T06:00Z');
    expect(await fireDue(context, intake, telling)).toMatchObject([{ task: null }]);
    expect(await context.board.list('schedule')).toMatchObject([{ lastPassed: { because: 'overlap' } }]);
  });

  it('that cannot be used are told, and stop no other', async () => {
    await using place = await newPlace('sqlite');
    const clock = new FakeClock('2026-01-01T00:00Z');
    const context = machine(await place.open(), clock);
    const bad = { ...nightly, id: 'coder/bad', timing: { type: 'cron', expression: '99 * * * *' } } as never;
    const told: string[] = [];
    const options = { onProblem: (reason: string) => void told.push(reason) };
    await setSchedules(context, intakeWith(bad, nightly), options);
    clock.set('2026-01-01T06:00Z');
    expect(await fireDue(context, intakeWith(bad, nightly), options)).toHaveLength(1);
    expect(told).toEqual(['coder/bad: CronPattern: Invalid value for minute: 99']);
  });

  it('are paused, resumed and run by a person, before any orchestrator has seen them', async () => {
    await using place = await newPlace('sqlite');
    const clock = new FakeClock('2026-01-01T00:00Z');
    const context = machine(await place.open(), clock);
    const intake = intakeWith(nightly);
    must(await pauseSchedule(context, intake, nightly));
    expect(await pauseSchedule(context, intake, nightly)).toMatchObject({ kind: 'refused' });
    clock.set('2026-01-02T07:00Z');
    expect(await fireDue(context, intake, telling)).toEqual([]);
    expect((await loadSchedules(context, intake))[0]?.next).toEqual([]);
    expect(must(await runSchedule(context, intake, nightly)).body).toBe(nightly.prompt);
    must(await resumeSchedule(context, intake, nightly));
    const [known] = await loadSchedules(context, intake);
    expect(known?.next.map((time) => new Date(time).toISOString().slice(0, 16))).toEqual([
      '2026-01-03T06:00',
      '2026-01-04T06:00',
      '2026-01-05T06:00',
    ]);
    expect(known?.next).toHaveLength(defaultPolicy.schedules.shownTimes);
    await expectReplayed(context.board);
  });
});
