/**
 * A schedule: an agent starts at certain times.
 *
 *   set → (fired | passed)* with (paused ⇄ resumed) → removed
 *
 * `nextAt` moves in the transaction that creates the task of a run, and the decision is made there again from the locked record:
 * so any number of machines fire a time once. A time within `graceMs` is on time; an older one was missed. `owed` runs wait
 * until no run of the schedule goes on: those of `overlap: queue` and of `missed: once | all`, and one whose source cannot be read.
 */

import { type EventHead, existing } from '../../kernel/evolution.ts';
import {
  type AgentName,
  type JobId,
  type NodeId,
  type ScheduleId,
  type TaskId,
  type Timestamp,
  timestamp,
} from '../../kernel/ids.ts';
import { unreachable } from '../../kernel/unreachable.ts';
import { statusesIn } from '../../tasks/rules/task.ts';

export type Timing =
  | { readonly type: 'interval'; readonly everyMs: number }
  | { readonly type: 'cron'; readonly expression: string; readonly timeZone?: string };

/** A schedule as copse.yml defines it. */
export interface ScheduleDefinition {
  readonly id: ScheduleId;
  readonly agent: AgentName;
  readonly name: string;
  readonly timing: Timing;
  readonly missed: 'skip' | 'once' | 'all';
  readonly overlap: 'skip' | 'queue';
  readonly prompt: string | null;
  /** The name of a source: each run takes its next open item. */
  readonly workSource: string | null;
}

export interface Schedule {
  readonly id: ScheduleId;
  readonly agent: AgentName;
  readonly name: string;
  readonly timing: Timing;
  /** The node whose copse.yml defines it: no other node removes it. Null: unknown. */
  readonly definedBy: NodeId | null;
  /** Null: never. */
  readonly nextAt: Timestamp | null;
  /** The last time that was dealt with, by the clock of the machine that did. */
  readonly lastDueAt: Timestamp | null;
  /** Runs that wait for the end of the one that goes on. */
  readonly owed: number;
  readonly pausedAt: Timestamp | null;
  readonly lastFiredAt: Timestamp | null;
  readonly lastRun: ScheduleRun | null;
  readonly lastPassed: { readonly at: Timestamp; readonly because: PassCause } | null;
}

interface ScheduleRun {
  readonly job: JobId;
  readonly task: TaskId;
}

/** Why a time passed without a run. `unread`: the run waits for its source. `clock`: the clock went back, and times are computed anew. */
export type PassCause = 'missed' | 'overlap' | 'no_item' | 'unread' | 'clock';

export const passCauses: Readonly<Record<PassCause, string>> = {
  missed: 'no orchestrator ran at that time',
  overlap: 'its last run goes on',
  no_item: 'its source has no open item',
  unread: 'its source could not be read; the run starts when it can',
  clock: 'the clock went back, and its times are computed anew',
};

type Of<T extends string> = EventHead<T, ScheduleId>;

export type ScheduleEvent =
  | (Of<'schedule.set'> &
      Pick<Schedule, 'agent' | 'name' | 'timing' | 'nextAt'> & {
        readonly definedBy?: NodeId;
        /** Older events have it. False: it was paused. */
        readonly enabled?: boolean;
      })
  | (Of<'schedule.fired'> & Partial<Due & ScheduleRun> & { readonly nextAt: Timestamp | null })
  | (Of<'schedule.passed'> & Due & { readonly because: PassCause })
  | Of<'schedule.paused'>
  | (Of<'schedule.resumed'> & { readonly nextAt: Timestamp | null })
  | Of<'schedule.removed'>;

/** What a run or a passed time makes of the record. */
export interface Due {
  readonly dueAt: Timestamp;
  readonly nextAt: Timestamp | null;
  readonly owed: number;
}

export function evolveSchedule(schedule: Schedule | undefined, event: ScheduleEvent): Schedule | undefined {
  if (event.type === 'schedule.set') return set(schedule, event);
  const before = existing(schedule, event);
  if (event.type === 'schedule.removed') return undefined;
  return { ...before, ...changed(event) };
}

function set(
  before: Schedule | undefined,
  event: Extract<ScheduleEvent, { type: 'schedule.set' }>,
): Schedule {
  const { id, at, agent, name, timing, nextAt, definedBy = null, enabled } = event;
  const { pausedAt = null, lastFiredAt = null, lastRun = null } = before ?? {};
  return {
    id,
    agent,
    name,
    timing,
    definedBy,
    nextAt,
    lastDueAt: at,
    owed: 0,
    pausedAt: enabled === false ? at : pausedAt,
    lastFiredAt,
    lastRun,
    lastPassed: null,
  };
}

function changed(
  event: Exclude<ScheduleEvent, { type: 'schedule.set' | 'schedule.removed' }>,
): Partial<Schedule> {
  switch (event.type) {
    case 'schedule.fired': {
      const { at, nextAt, dueAt = at, owed = 0, job, task } = event;
      const run = job === undefined || task === undefined ? null : { job, task };
      return { lastFiredAt: at, nextAt, lastDueAt: dueAt, owed, lastRun: run };
    }
    case 'schedule.passed': {
      const { at, nextAt, dueAt, owed, because } = event;
      return { nextAt, lastDueAt: dueAt, owed, lastPassed: { at, because } };
    }
    case 'schedule.paused':
      return { pausedAt: event.at };
    case 'schedule.resumed':
      return { pausedAt: null, nextAt: event.nextAt, lastDueAt: event.at, owed: 0 };
    default:
      return unreachable(event);
  }
}

/** The first time after a moment; null: never. */
export type After = (at: Timestamp) => Timestamp | null;

/** Times of an interval keep their distance from the last one, which a wrong clock may have put far ahead. */
export function intervalAfter(everyMs: number, anchor: Timestamp): After {
  return (at) => {
    const steps = Math.floor((at - anchor) / everyMs) + 1;
    return timestamp(anchor + steps * everyMs);
  };
}

/** Statuses in which the run of a task goes on without a person, or with one who paused it. */
export const goingStatuses = statusesIn({
  pending: true,
  ready: true,
  in_progress: true,
  paused: true,
  stuck: false,
  in_review: false,
  landing: true,
  needs_attention: false,
  done: false,
  failed: false,
  cancelled: false,
});

export interface DueFacts {
  /** The task of the last run goes on. */
  readonly isGoing: boolean;
  readonly after: After;
}

export interface SchedulePolicy {
  /** A later start is a missed one. */
  readonly graceMs: number;
  /** Runs that `missed: all` catches up with. */
  readonly mostOwed: number;
  /** A smaller step of the clock back changes no times. */
  readonly clockStepMs: number;
}

export type DuePlan =
  | { readonly kind: 'wait' }
  | { readonly kind: 'run'; readonly due: Due }
  | { readonly kind: 'pass'; readonly due: Due; readonly because: PassCause };

export function decideDue(
  schedule: Schedule,
  { missed, overlap }: Pick<ScheduleDefinition, 'missed' | 'overlap'>,
  { isGoing: goesOn, after }: DueFacts,
  policy: SchedulePolicy,
  now: Timestamp,
): DuePlan {
  const { nextAt, owed, pausedAt, lastDueAt } = schedule;
  if (pausedAt !== null) return { kind: 'wait' };
  if (isOfWrongClock(schedule, after, policy, now))
    return { kind: 'pass', because: 'clock', due: { dueAt: now, nextAt: after(now), owed } };
  if (owed > 0 && !goesOn) return { kind: 'run', due: { dueAt: lastDueAt ?? now, nextAt, owed: owed - 1 } };
  if (nextAt === null || nextAt > now) return { kind: 'wait' };

  const times = countTimes(nextAt, now, after, policy);
  const next = { nextAt: after(now) };
  const caughtUp = Math.min(policy.mostOwed, owed + caughtUpWith(missed, times));
  if (times.onTime === null) {
    const last = { dueAt: times.last, ...next };
    if (caughtUp > 0 && !goesOn) return { kind: 'run', due: { ...last, owed: caughtUp - 1 } };
    return { kind: 'pass', because: 'missed', due: { ...last, owed: caughtUp } };
  }
  const due = { dueAt: times.onTime, ...next };
  if (!goesOn) return { kind: 'run', due: { ...due, owed: caughtUp } };
  return {
    kind: 'pass',
    because: 'overlap',
    due: { ...due, owed: overlap === 'queue' ? Math.max(1, caughtUp) : caughtUp },
  };
}

/** No clock within `clockStepMs` of this one would have dealt with that time, or chosen this next one. */
function isOfWrongClock(
  { lastDueAt, nextAt }: Schedule,
  after: After,
  { clockStepMs }: SchedulePolicy,
  now: Timestamp,
): boolean {
  const latest = timestamp(now + clockStepMs);
  if (lastDueAt !== null && lastDueAt > latest) return true;
  if (nextAt !== null && nextAt <= latest) return false;
  const expected = after(latest);
  return expected !== null && (nextAt === null || nextAt > expected);
}

interface Times {
  /** The newest one, if it is not too late for it. */
  readonly onTime: Timestamp | null;
  readonly last: Timestamp;
  /** Besides `onTime`; not counted beyond what is caught up with. */
  readonly missed: number;
}

function countTimes(from: Timestamp, now: Timestamp, after: After, policy: SchedulePolicy): Times {
  const graceFrom = timestamp(now - policy.graceMs);
  let [last, missed] = [from, 0];
  for (let at: Timestamp | null = from; at !== null && at <= graceFrom; at = after(at)) {
    if (missed >= policy.mostOwed) break;
    [last, missed] = [at, missed + 1];
  }
  let onTime: Timestamp | null = null;
  for (let at = from > graceFrom ? from : after(graceFrom); at !== null && at <= now; at = after(at)) {
    if (onTime !== null) missed += 1;
    onTime = at;
  }
  return { onTime, last: onTime ?? last, missed };
}

/** Runs that are owed for the missed times, beside a run for one that is on time. */
function caughtUpWith(missed: ScheduleDefinition['missed'], times: Times): number {
  switch (missed) {
    case 'skip':
      return 0;
    case 'once':
      return times.onTime === null ? 1 : 0;
    case 'all':
      return times.missed;
    default:
      return unreachable(missed);
  }
}

export function isSameTiming(one: Timing, other: Timing): boolean {
  if (one.type === 'interval') return other.type === 'interval' && one.everyMs === other.everyMs;
  return (
    other.type === 'cron' &&
    one.expression === other.expression &&
    (one.timeZone ?? 'UTC') === (other.timeZone ?? 'UTC')
  );
}
