/** Schedules, triggers and sources of copse.yml. */

import type { Config } from '../../config/schema.ts';
import type { SourceConfig } from '../../config/sources.ts';
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

export interface SourceDefinition {
  readonly name: string;
  /** Where copse.yml has it. */
  readonly key: string;
  readonly config: SourceConfig;
  readonly drawnBy: readonly ScheduleId[];
}

/** Also those that are written in a schedule. */
export function sourceDefinitions(config: Pick<Config, 'agents' | 'sources'>): readonly SourceDefinition[] {
  const drawing = scheduleDefinitions(config);
  const define = (name: string, key: string, source: SourceConfig): SourceDefinition => ({
    name,
    key,
    config: source,
    drawnBy: drawing.filter(({ workSource }) => workSource === name).map(({ id }) => id),
  });
  const named = Object.entries(config.sources).map(([name, source]) =>
    define(name, `sources.${name}`, source),
  );
  const written = drawing.flatMap(({ id, agent, name }) => {
    const from = config.agents[agent]?.schedules[name]?.work_source;
    const key = `agents.${agent}.schedules.${name}.work_source`;
    return from === undefined || typeof from === 'string' ? [] : [define(id, key, from)];
  });
  return [...named, ...written];
}
