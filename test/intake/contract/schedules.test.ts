/** Schedules on a shared board: any number of machines fire a time once, and a kill at any step loses and doubles nothing. */

import { describe, expect, it } from 'vitest';

import {
  type DrawnItem,
  fireDue,
  fireOne,
  loadSchedules,
  oweRun,
  pauseSchedule,
  resumeSchedule,
  runSchedule,
  setSchedules,
} from '../../../packages/copse/src/intake/act/schedules.ts';
import { ScheduleDuty } from '../../../packages/copse/src/intake/act/schedule-duty.ts';
import type { ScheduleDefinition } from '../../../packages/copse/src/intake/rules/schedule.ts';
import { replay } from '../../../packages/copse/src/board/rules/event.ts';
import type { Board } from '../../../packages/copse/src/board/port.ts';
import { type EventNumber, type ScheduleId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { change } from '../../../packages/copse/src/board/context.ts';
import { decideCancel } from '../../../packages/copse/src/tasks/rules/decisions.ts';
import { engines, newPlace } from '../../support/board/boards.ts';
import { must } from '../../support/records/tasks.ts';
import { FakeClock, intakeWith, machine, nightly } from '../../support/intake/machine.ts';

const problems: string[] = [];
const telling = { onProblem: (reason: string) => void problems.push(reason) };

const other = { id: brand<ScheduleId>('coder/other'), name: 'other' };

function drawn(id: string): DrawnItem {
  const nothing = { url: null, author: null, isClosed: false, dependsOn: [] };
  return { source: 'github', seen: { id, title: `Item ${id}`, body: 'Text', ...nothing }, by: 'anna' };
}

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

  // promise: item-once
  it('takes an item in the transaction of its task: two machines take one item once, and the next one with the next time', async () => {
    await using place = await newPlace(engine);
    const clock = new FakeClock('2026-01-01T00:00Z');
    const machines = [machine(await place.open(), clock), machine(await place.open(), clock, 'n-2')] as const;
    const [one] = machines;
    const drawing = { ...nightly, prompt: 'Be brief.', workSource: 'github' };
    const intake = intakeWith(drawing, { ...drawing, ...other });
    await setSchedules(one, intake, telling);
    clock.set('2026-01-01T06:00Z');
    // Without its source, it stays due.
    expect(await fireDue(one, intake, telling)).toEqual([]);
    const fire = (definition: ScheduleDefinition, id: string | null) =>
      Promise.all(
        machines.map((context) =>
          fireOne(context, intake, definition, { item: id === null ? null : drawn(id) }),
        ),
      );
    const fired = await fire(drawing, '12');
    expect(fired.filter((each) => each.kind === 'done' && each.value !== null)).toHaveLength(1);
    const [task] = await one.board.tasks({ order: 'urgent' });
    expect(task).toMatchObject({
      title: 'Item 12',
      workItem: { source: 'github', id: '12' },
      agent: 'coder',
      origin: { kind: 'schedule', schedule: 'coder/nightly', prompt: 'Be brief.' },
    });
    expect(await one.board.list('item')).toMatchObject([{ item: '12', task: task?.id, by: 'anna' }]);
    // An item that has a task leaves the schedule due, for the next item.
    const before = await one.board.lastEvent();
    const again = intake.schedules[1] ?? drawing;
    expect(await fire(again, '12')).toMatchObject([
      { kind: 'refused', refusal: { code: 'already_a_task' } },
      { kind: 'refused', refusal: { code: 'already_a_task' } },
    ]);
    expect(await one.board.lastEvent()).toBe(before);
    await fire(again, null);
    expect((await one.board.get('schedule', again.id))?.lastPassed?.because).toBe('no_item');
    expect(await runSchedule(one, intake, again)).toMatchObject({
      refusal: {
        reason: 'coder/other has nothing to do: the source github has no open item without a task.',
      },
    });
    expect(await titles(one.board)).toEqual(['Item 12']);
    await expectReplayed(one.board);
  });

  it('whose source cannot be read keeps one run, however long that lasts', async () => {
    await using place = await newPlace(engine);
    const clock = new FakeClock('2026-01-01T00:00Z');
    const context = machine(await place.open(), clock);
    const drawing = { ...nightly, workSource: 'github' };
    const intake = intakeWith(drawing);
    await setSchedules(context, intake, telling);
    await oweRun(context, intake, drawing);
    expect(await context.board.lastEvent()).toBe(1);
    clock.set('2026-01-01T06:00Z');
    await oweRun(context, intake, drawing);
    clock.set('2026-01-01T12:00Z');
    await oweRun(context, intake, drawing);
    expect(await context.board.list('schedule')).toMatchObject([
      { owed: 1, lastPassed: { because: 'unread' } },
    ]);
    expect(await fireOne(context, intake, drawing, { item: drawn('1') })).toMatchObject({
      value: { title: 'Item 1' },
    });
    expect(await context.board.list('schedule')).toMatchObject([
      { owed: 0, nextAt: Date.parse('2026-01-02T06:00Z') },
    ]);
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
