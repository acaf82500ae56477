/** What `--json` prints about schedules and jobs. Times are ISO 8601. */

import type { Job } from '../../intake/act/jobs.ts';
import type { KnownSchedule } from '../../intake/act/schedules.ts';
import { cronWords } from '../../intake/rules/cron-words.ts';
import type { Timing } from '../../intake/rules/schedule.ts';
import type { JobId, Timestamp } from '../../kernel/ids.ts';
import { time } from '../../kernel/time.ts';
import { type TaskSummary, jobOf } from '../../tasks/rules/task.ts';
import { taskView } from './views.ts';

export function scheduleView({ id, definition, schedule, isElsewhere, next }: KnownSchedule) {
  const timing = (isElsewhere ? schedule : (definition ?? schedule))?.timing ?? null;
  return {
    id,
    agent: (definition ?? schedule)?.agent ?? null,
    name: (definition ?? schedule)?.name ?? null,
    timing: timing && timingView(timing),
    missed: definition?.missed ?? null,
    overlap: definition?.overlap ?? null,
    prompt: definition?.prompt ?? null,
    workSource: definition?.workSource ?? null,
    isDefinedHere: definition !== null && !isElsewhere,
    isOnBoard: schedule !== null,
    pausedAt: schedule?.pausedAt == null ? null : time(schedule.pausedAt),
    next: next.map(time),
    owed: schedule?.owed ?? 0,
    lastRun: schedule?.lastRun
      ? { ...schedule.lastRun, at: schedule.lastFiredAt && time(schedule.lastFiredAt) }
      : null,
    lastPassed: schedule?.lastPassed
      ? { because: schedule.lastPassed.because, at: time(schedule.lastPassed.at) }
      : null,
  };
}

function timingView(timing: Timing) {
  if (timing.type === 'interval') return { type: timing.type, everyMs: timing.everyMs };
  const { type, expression, timeZone = 'UTC' } = timing;
  return { type, expression, timeZone, words: cronWords(expression) };
}

export function jobView(job: Job) {
  const { id, origin, task, result, attempts, startedAt, endedAt, workedMs, summary, error, usage } = job;
  return {
    id,
    by: origin.kind,
    schedule: origin.kind === 'schedule' ? origin.schedule : null,
    trigger: origin.kind === 'trigger' ? origin.trigger : null,
    item: task.workItem,
    result,
    createdAt: time(task.createdAt),
    startedAt: startedAt && time(startedAt),
    endedAt: endedAt && time(endedAt),
    durationMs: attempts === 0 ? null : workedMs,
    attempts,
    summary,
    error,
    usage,
    task: taskView(task),
  };
}

/** A run that a person started. */
export interface StartedRun {
  readonly job: JobId | null;
  readonly task: TaskSummary;
  readonly at: Timestamp;
}

export function startedRun(task: TaskSummary, at: Timestamp): StartedRun {
  return { job: jobOf(task.origin), task, at };
}

export function startedView({ job, task }: StartedRun) {
  return { job, task: taskView(task) };
}
