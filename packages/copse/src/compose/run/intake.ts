/** What comes in without a person, by copse.yml. */

import type { Config } from '../../config/schema.ts';
import { scheduleDefinitions, triggerDefinitions } from '../../intake/act/settings.ts';
import type { Intake } from '../../intake/ports/intake.ts';
import type { CronTimes } from '../../intake/ports/times.ts';

export async function intakeOf(config: Pick<Config, 'agents' | 'triggers'>): Promise<Intake> {
  const schedules = scheduleDefinitions(config);
  const triggers = triggerDefinitions(config);
  return { schedules, triggers, cron: await cronTimes(), items: null };
}

/** Loaded when it is first asked for: most boards have no schedule. */
async function cronTimes(): Promise<CronTimes> {
  const { cronTimes: times } = await import('../../intake/cron/times.ts');
  return times;
}
