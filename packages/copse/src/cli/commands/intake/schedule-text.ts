/** Schedules as people read them. */

import { cronWords } from '../../../intake/rules/cron-words.ts';
import type { KnownSchedule } from '../../../intake/act/schedules.ts';
import type { Timing } from '../../../intake/rules/schedule.ts';
import type { Timestamp } from '../../../kernel/ids.ts';
import { MINUTE } from '../../../kernel/limits.ts';
import { spanText } from '../../../kernel/time.ts';

export function timingOf({ definition, schedule, isElsewhere }: KnownSchedule): Timing {
  const by = isElsewhere ? schedule : (definition ?? schedule);
  if (by === null) throw new Error('A schedule is defined, or on the board');
  return by.timing;
}

export function timingText(timing: Timing): string {
  if (timing.type === 'interval') return `every ${spanText(timing.everyMs)}`;
  return `${cronWords(timing.expression)} (${timing.timeZone ?? 'UTC'})`;
}

/** `2026-11-19 06:00`, in the time zone of the schedule; with seconds if they matter. */
export function momentText(at: Timestamp, timing: Timing): string {
  const timeZone = timing.type === 'cron' ? (timing.timeZone ?? 'UTC') : 'UTC';
  // Swedish writes a day and a time as ISO 8601 does.
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    ...(hasSeconds(timing) && { second: '2-digit' }),
  });
  return format.format(at);
}

function hasSeconds(timing: Timing): boolean {
  if (timing.type === 'interval') return timing.everyMs % MINUTE !== 0;
  return timing.expression.split(/ +/).length === 6;
}
