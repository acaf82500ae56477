/** Schedules and triggers of copse.yml. */

import type { Config } from '../../config/schema.ts';
import { type AgentName, type ScheduleId, brand } from '../../kernel/ids.ts';
import type { ScheduleDefinition } from '../rules/schedule.ts';
import type { TriggerDefinition } from '../rules/trigger.ts';

export function scheduleDefinitions({ agents }: Pick<Config, 'agents'>): readonly ScheduleDefinition[] {
  return Object.entries(agents).flatMap(([agent, { schedules }]) =>
    Object.entries(schedules).map(([name, schedule]): ScheduleDefinition => {
      const id = brand<ScheduleId>(`${agent}/${name}`);
      const { missed, overlap, prompt = null, work_source: from } = schedule;
      return {
        id,
        agent: brand<AgentName>(agent),
        name,
        timing: timingOf(schedule),
        missed,
        overlap,
        prompt,
        // A source that is written in the schedule has its name.
        workSource: from === undefined ? null : typeof from === 'string' ? from : id,
      };
    }),
  );
}

type ScheduleSettings = Config['agents'][string]['schedules'][string];

function timingOf(schedule: ScheduleSettings): ScheduleDefinition['timing'] {
  if (schedule.type === 'interval') return { type: 'interval', everyMs: schedule.interval };
  const { cron: expression, time_zone: timeZone } = schedule;
  return { type: 'cron', expression, ...(timeZone !== undefined && { timeZone }) };
}

export function triggerDefinitions({ triggers }: Pick<Config, 'triggers'>): readonly TriggerDefinition[] {
  return Object.entries(triggers).map(([name, trigger]): TriggerDefinition => {
    const { agent, type, prompt = null, work_source: workSource = null } = trigger;
    const { secret_variable: variable, secret_file: file } = trigger;
    const secret = variable !== undefined ? { variable } : file !== undefined ? { file } : null;
    return { name, agent: brand<AgentName>(agent), type, secret, workSource, prompt };
  });
}
