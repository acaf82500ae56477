/** Mistakes in schedules and sources that the schema of copse.yml cannot see. */

import type { Config } from '../../config/schema.ts';
import { scheduleDefinitions } from '../../intake/act/settings.ts';
import { programInRepository, relativeProgram } from '../../intake/rules/command.ts';
import { timestamp } from '../../kernel/ids.ts';
import { intakeOf } from './intake.ts';

/** Of commands that start files of the repository. */
export function sourceProblems({ sources }: Pick<Config, 'sources'>): readonly string[] {
  return Object.entries(sources).flatMap(([name, source]) => {
    const program = source.type === 'command' ? programInRepository(source.command) : null;
    return program === null ? [] : [`copse.yml: sources.${name}.command ${relativeProgram(program)}.`];
  });
}

export async function scheduleProblems(config: Pick<Config, 'agents'>): Promise<readonly string[]> {
  const { items } = await intakeOf({ ...config, triggers: {} });
  const problems: string[] = [];
  for (const { agent, name, timing, workSource } of scheduleDefinitions(config)) {
    const key = `copse.yml: agents.${agent}.schedules.${name}`;
    if (timing.type === 'cron') {
      const { cronProblem } = await import('../../intake/cron/times.ts');
      const problem = cronProblem(timing.expression, timing.timeZone, timestamp(Date.now()));
      if (problem !== null) problems.push(`${key}: ${problem}.`);
    }
    if (workSource !== null && items === null)
      problems.push(
        `${key}.work_source has no effect yet: every item of a source becomes a task at once. Use prompt.`,
      );
  }
  return problems;
}
