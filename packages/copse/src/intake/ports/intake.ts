/** What intake needs from copse.yml and from outside. */

import type { ScheduleDefinition } from '../rules/schedule.ts';
import type { TriggerDefinition } from '../rules/trigger.ts';
import type { CronTimes } from './times.ts';

export interface Intake {
  readonly schedules: readonly ScheduleDefinition[];
  readonly triggers: readonly TriggerDefinition[];
  readonly cron: CronTimes;
}
