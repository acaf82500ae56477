/** When a schedule fires: by a clock of the test's own. */

import { describe, expect, test } from 'vitest';

import { cronTimes } from '../../../packages/copse/src/intake/cron/times.ts';
import {
  type After,
  type DuePlan,
  type Schedule,
  type ScheduleDefinition,
  decideDue,
  evolveSchedule,
  goingStatuses,
  intervalAfter,
} from '../../../packages/copse/src/intake/rules/schedule.ts';
import {
  type AgentName,
  type JobId,
  type ScheduleId,
  type TaskId,
  type Timestamp,
  brand,
  timestamp,
} from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { taskStatuses } from '../../../packages/copse/src/tasks/rules/task.ts';

const policy = defaultPolicy.schedules;
const id = brand<ScheduleId>('coder/nightly');
const run = { job: brand<JobId>('jb-1'), task: brand<TaskId>('cp-0001') };
const at = (text: string): Timestamp => timestamp(Date.parse(text));

type Rules = Pick<ScheduleDefinition, 'missed' | 'overlap'>;
const usual: Rules = { missed: 'skip', overlap: 'skip' };

function daily(timeZone = 'UTC', expression = '0 6 * * *'): After {
  return (moment) => cronTimes.after({ expression, timeZone }, moment);
}

/** A schedule on a board of its own: what a pass at some time makes of it. */
class Scene {
  readonly after: After;
  readonly rules: Rules;
  schedule: Schedule;
  /** The task of its last run goes on. */
  isGoing = false;
  readonly fired: string[] = [];
  readonly passed: string[] = [];

  constructor(set: string, after: After, rules: Partial<Rules> = {}) {
    this.after = after;
    this.rules = { ...usual, ...rules };
    const timing = { type: 'cron', expression: 'of the test' } as const;
    const now = at(set);
    const event = { id, at: now, agent: brand<AgentName>('coder'), name: 'nightly', timing };
    const made = evolveSchedule(undefined, { type: 'schedule.set', ...event, nextAt: after(now) });
    if (made === undefined) throw new Error('It was just set');
    this.schedule = made;
  }

  /** As many passes as there is something to do. */
  pass(text: string, { isEachDone = false } = {}): this {
    const now = at(text);
    for (let plan = this.#decide(now); plan.kind !== 'wait'; plan = this.#decide(now)) {
      if (plan.kind === 'run') this.fired.push(new Date(plan.due.dueAt).toISOString().slice(0, 16));
      else this.passed.push(plan.because);
      this.schedule =
        evolveSchedule(
          this.schedule,
          plan.kind === 'run'
            ? { type: 'schedule.fired', id, at: now, ...plan.due, ...run }
            : { type: 'schedule.passed', id, at: now, ...plan.due, because: plan.because },
        ) ?? this.schedule;
      if (plan.kind === 'run') this.isGoing = !isEachDone;
    }
    return this;
  }

  done(): this {
    this.isGoing = false;
    return this;
  }

  #decide(now: Timestamp): DuePlan {
    return decideDue(this.schedule, this.rules, this, policy, now);
  }
}

describe('a time', () => {
  test('starts one run, however often one looks', () => {
    const scene = new Scene('2026-01-01T00:00Z', daily());
    for (const look of ['05:59', '06:00', '06:00', '06:01', '07:00']) scene.pass(`2026-01-01T${look}Z`);
    expect(scene.fired).toEqual(['2026-01-01T06:00']);
    scene.done().pass('2026-01-02T06:00:05Z');
    expect(scene.fired).toEqual(['2026-01-01T06:00', '2026-01-02T06:00']);
  });

  // setting: agents.<name>.schedules.<name>.interval, agents.<name>.schedules.<name>.type=interval
  test('of an interval keeps its distance from the one before, also after a late look', () => {
    const start = at('2026-01-01T00:00Z');
    const scene = new Scene('2026-01-01T00:00Z', intervalAfter(3_600_000, start));
    scene.pass('2026-01-01T00:59Z').pass('2026-01-01T01:04Z').done().pass('2026-01-01T02:00Z');
    expect(scene.fired).toEqual(['2026-01-01T01:00', '2026-01-01T02:00']);
  });

  test('in the hour that clocks skip comes at its end', () => {
    const scene = new Scene('2026-03-28T12:00Z', daily('Europe/Berlin', '30 2 * * *'));
    scene.pass('2026-03-29T00:30Z').pass('2026-03-29T01:00Z').done().pass('2026-03-30T00:30Z');
    expect(scene.fired).toEqual(['2026-03-29T01:00', '2026-03-30T00:30']);
  });

  test('in the hour that clocks double comes once', () => {
    const scene = new Scene('2026-10-24T12:00Z', daily('Europe/Berlin', '30 2 * * *'));
    scene.pass('2026-10-25T00:30Z').done().pass('2026-10-25T01:30Z').done().pass('2026-10-26T01:30Z');
    expect(scene.fired).toEqual(['2026-10-25T00:30', '2026-10-26T01:30']);
  });

  test('of every hour comes in both of the doubled hours, and not in the skipped one', () => {
    const scene = new Scene('2026-10-24T23:30Z', daily('Europe/Berlin', '0 * * * *'));
    for (const hour of [0, 1, 2]) scene.pass(`2026-10-25T0${hour}:00Z`).done();
    expect(scene.fired).toHaveLength(3);
    const spring = new Scene('2026-03-29T00:30Z', daily('Europe/Berlin', '0 * * * *'));
    for (const minute of ['01:00', '01:30', '02:00']) spring.pass(`2026-03-29T${minute}Z`).done();
    expect(spring.fired).toEqual(['2026-03-29T01:00', '2026-03-29T02:00']);
  });
});

describe('after days without an orchestrator', () => {
  const late = '2026-01-05T12:00Z';
  test.each([
    ['skip', [], ['missed']],
    ['once', ['2026-01-05T06:00'], []],
  ] as const)('missed: %s', (missed, fired, passed) => {
    const scene = new Scene('2026-01-01T00:00Z', daily(), { missed }).pass(late);
    expect([scene.fired, scene.passed]).toEqual([fired, passed]);
    // Then it goes on as usual.
    scene.done().pass('2026-01-06T06:00Z');
    expect(scene.fired.at(-1)).toBe('2026-01-06T06:00');
  });

  // setting: agents.<name>.schedules.<name>.missed
  test('missed: all starts a run for each, one after another', () => {
    const scene = new Scene('2026-01-01T00:00Z', daily(), { missed: 'all' }).pass(late);
    expect([scene.fired.length, scene.schedule.owed]).toEqual([1, 4]);
    for (let more = 0; more < 6; more += 1) scene.done().pass(late);
    expect(scene.fired).toHaveLength(5);
  });

  test('missed: all has an end, also for years of minutes', () => {
    const minutes = daily('UTC', '* * * * *');
    const scene = new Scene('2020-01-01T00:00Z', minutes, { missed: 'all' });
    scene.pass(late, { isEachDone: true });
    expect(scene.fired.length).toBeLessThanOrEqual(policy.mostOwed + 1);
    expect(scene.schedule.nextAt).toBe(at('2026-01-05T12:01Z'));
  });

  test.each(['skip', 'once', 'all'] as const)(
    'a look that is a little late misses nothing (%s)',
    (missed) => {
      const scene = new Scene('2026-01-01T00:00Z', daily(), { missed }).pass('2026-01-01T06:04Z');
      expect([scene.fired, scene.passed, scene.schedule.owed]).toEqual([['2026-01-01T06:00'], [], 0]);
    },
  );
});

describe('while the last run goes on', () => {
  test('overlap: skip starts nothing, and nothing later', () => {
    const scene = new Scene('2026-01-01T00:00Z', daily()).pass('2026-01-01T06:00Z').pass('2026-01-02T06:00Z');
    expect(scene.done().pass('2026-01-02T09:00Z').fired).toEqual(['2026-01-01T06:00']);
    expect(scene.passed).toEqual(['overlap']);
  });

  // setting: agents.<name>.schedules.<name>.overlap
  test('overlap: queue starts once when it has ended, however many times passed', () => {
    const scene = new Scene('2026-01-01T00:00Z', daily(), { overlap: 'queue' });
    for (const day of [1, 2, 3]) scene.pass(`2026-01-0${day}T06:00Z`);
    expect(scene.fired).toHaveLength(1);
    scene.done().pass('2026-01-03T09:00Z').done().pass('2026-01-03T10:00Z');
    expect(scene.fired).toEqual(['2026-01-01T06:00', '2026-01-03T06:00']);
  });

  test('a run goes on until an agent can do nothing more without a person', () => {
    const going = taskStatuses.filter((status) => goingStatuses.includes(status));
    expect(going).toEqual(['pending', 'ready', 'in_progress', 'paused', 'landing']);
  });
});

describe('a clock that went back', () => {
  test('by little does not start a time twice', () => {
    const scene = new Scene('2026-01-01T00:00Z', daily()).pass('2026-01-01T06:00:30Z').done();
    for (const look of ['05:59', '06:00', '06:01']) scene.pass(`2026-01-01T${look}Z`);
    expect(scene.fired).toHaveLength(1);
  });

  test('by days does not keep the schedule waiting for days', () => {
    const scene = new Scene('2026-01-01T00:00Z', daily()).pass('2026-02-01T06:00Z').done();
    scene.pass('2026-01-02T00:00Z');
    expect(scene.passed).toEqual(['clock']);
    expect(scene.pass('2026-01-02T06:00Z').fired).toEqual(['2026-02-01T06:00', '2026-01-02T06:00']);
  });
});

describe('an interval whose times a wrong clock computed', () => {
  const hour = 3_600_000;
  /** Times count from the recorded next one, as in a run. */
  const hourly = (set: string, rules: Partial<Rules> = {}) => {
    const made: Scene[] = [];
    const after: After = (moment) => intervalAfter(hour, made[0]?.schedule.nextAt ?? at(set))(moment);
    made.push(new Scene(set, after, rules));
    return made[0] as Scene;
  };

  test.each(['skip', 'once', 'all'] as const)(
    'that was years ahead goes on within an hour (%s)',
    (missed) => {
      const scene = hourly('2026-01-01T00:00Z', { missed }).pass('2031-01-01T00:30Z', { isEachDone: true });
      const before = scene.fired.length;
      scene.done().pass('2026-01-01T02:10Z', { isEachDone: true });
      expect(scene.passed.at(-1)).toBe('clock');
      expect(scene.schedule.nextAt).toBeLessThanOrEqual(at('2026-01-01T03:10Z'));
      const next = new Date(scene.schedule.nextAt ?? 0).toISOString();
      scene.done().pass(next, { isEachDone: true });
      expect(scene.fired.length).toBeGreaterThan(before);
    },
  );

  test('is resumed from the present', () => {
    expect(intervalAfter(hour, at('2031-01-01T00:30Z'))(at('2026-01-01T02:10Z'))).toBe(
      at('2026-01-01T02:30Z'),
    );
  });

  test('on another machine, less than an hour ahead, changes nothing', () => {
    const scene = new Scene('2026-01-01T00:00Z', daily()).pass('2026-01-01T06:00Z').done();
    expect(scene.pass('2026-01-01T05:01Z').passed).toEqual([]);
  });
});

describe('a definition', () => {
  test('that changes begins anew, and keeps what was paused and run', () => {
    const scene = new Scene('2026-01-01T00:00Z', daily()).pass('2026-01-01T06:00Z');
    const now = at('2026-01-01T07:00Z');
    const paused = evolveSchedule(scene.schedule, { type: 'schedule.paused', id, at: now });
    const timing = { type: 'interval', everyMs: 60_000 } as const;
    const event = { id, at: now, agent: brand<AgentName>('coder'), name: 'nightly', timing };
    const nextAt = timestamp(now + 60_000);
    const set = evolveSchedule(paused, { type: 'schedule.set', ...event, nextAt });
    expect(set).toMatchObject({ timing, nextAt, owed: 0, lastDueAt: now, pausedAt: now, lastRun: run });
  });

  test('that is paused starts nothing, and nothing of the time before it was resumed', () => {
    const scene = new Scene('2026-01-01T00:00Z', daily(), { missed: 'all' });
    const change = (event: Parameters<typeof evolveSchedule>[1]) => {
      scene.schedule = evolveSchedule(scene.schedule, event) ?? scene.schedule;
    };
    change({ type: 'schedule.paused', id, at: at('2026-01-01T01:00Z') });
    expect(scene.pass('2026-01-03T06:00Z').fired).toEqual([]);
    const now = at('2026-01-03T12:00Z');
    change({ type: 'schedule.resumed', id, at: now, nextAt: scene.after(now) });
    expect(scene.pass('2026-01-03T12:01Z').pass('2026-01-04T06:00Z').fired).toEqual(['2026-01-04T06:00']);
  });

  test('of an older Copse that was not enabled is paused', () => {
    const scene = new Scene('2026-01-01T00:00Z', daily());
    const { agent, name, timing } = scene.schedule;
    const event = { type: 'schedule.set', id, at: timestamp(1), agent, name, timing, nextAt: null } as const;
    expect(evolveSchedule(undefined, { ...event, enabled: false })?.pausedAt).toBe(1);
    expect(evolveSchedule(undefined, { ...event, enabled: true })?.pausedAt).toBeNull();
  });
});
