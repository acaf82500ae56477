/** Mistakes in schedules and sources that the schema of copse.yml cannot see. */

import type { Config } from '../../config/schema.ts';
import { scheduleDefinitions, sourceDefinitions } from '../../intake/act/settings.ts';
import { programInRepository, relativeProgram } from '../../intake/rules/command.ts';
import { timestamp } from '../../kernel/ids.ts';

/** Of commands that start files of the repository. */
export function sourceProblems(config: Pick<Config, 'agents' | 'sources'>): readonly string[] {
  return sourceDefinitions(config).flatMap(({ key, config: source }) => {
    const program = source.type === 'command' ? programInRepository(source.command) : null;
    return program === null ? [] : [`copse.yml: ${key}.command ${relativeProgram(program)}.`];
  });
}

export async function scheduleProblems(config: Pick<Config, 'agents'>): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { agent, name, timing } of scheduleDefinitions(config)) {
    const key = `copse.yml: agents.${agent}.schedules.${name}`;
    if (timing.type === 'cron') {
      const { cronProblem } = await import('../../intake/cron/times.ts');
      const problem = cronProblem(timing.expression, timing.timeZone, timestamp(Date.now()));
      if (problem !== null) problems.push(`${key}: ${problem}.`);
    }
  }
  return problems;
}
