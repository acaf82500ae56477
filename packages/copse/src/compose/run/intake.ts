/** What comes in without a person, by copse.yml. */

import type { Config } from '../../config/schema.ts';
import { scheduleDefinitions, triggerDefinitions } from '../../intake/act/settings.ts';
import type { Intake } from '../../intake/ports/intake.ts';
import type { CronTimes } from '../../intake/ports/times.ts';

/** `isShown`: also for schedules that only the board has. */
export async function intakeOf(
  config: Pick<Config, 'agents' | 'triggers'>,
  { isShown = false } = {},
): Promise<Intake> {
  const schedules = scheduleDefinitions(config);
  const triggers = triggerDefinitions(config);
  const isNeeded = isShown || schedules.some(({ timing }) => timing.type === 'cron');
  return { schedules, triggers, cron: isNeeded ? await loadCron() : noCron };
}

/** Most boards have no schedule, so most commands need none of it. */
async function loadCron(): Promise<CronTimes> {
  const { cronTimes } = await import('../../intake/cron/times.ts');
  return cronTimes;
}

const noCron: CronTimes = {
  after() {
    throw new Error('copse.yml has no cron schedule, so none can be asked for its times');
  },
};
