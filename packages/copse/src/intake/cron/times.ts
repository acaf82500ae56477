/**
 * Times of cron expressions, by croner. On the day on which clocks go forward, a time in the hour that does not exist comes
 * at the end of that hour; on the day on which they go back, a time in the doubled hour comes once, and `*` in both.
 */

import { Cron } from 'croner';

import { type Timestamp, timestamp } from '../../kernel/ids.ts';
import type { CronTimes } from '../ports/times.ts';

export const cronTimes: CronTimes = {
  after({ expression, timeZone }, at) {
    const next = cronOf(expression, timeZone).nextRun(new Date(at));
    return next === null ? null : timestamp(next.getTime());
  },
};

/** Why an expression or a time zone cannot be used; null when it can. */
export function cronProblem(expression: string, timeZone: string | undefined, now: Timestamp): string | null {
  try {
    Intl.DateTimeFormat('en', { timeZone: timeZone ?? 'UTC' });
  } catch {
    return `there is no time zone ${JSON.stringify(timeZone)}: use a name such as Europe/Berlin`;
  }
  try {
    return cronTimes.after({ expression, ...(timeZone !== undefined && { timeZone }) }, now) === null
      ? 'its cron expression never comes'
      : null;
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^CronPattern: /, '') : String(error);
    return `its cron expression cannot be used: ${why}`;
  }
}

const known = new Map<string, Cron>();

/** Making one costs more than asking it. */
function cronOf(expression: string, timeZone = 'UTC'): Cron {
  const key = `${timeZone} ${expression}`;
  const cron = known.get(key) ?? new Cron(expression, { timezone: timeZone, paused: true });
  known.set(key, cron);
  return cron;
}
