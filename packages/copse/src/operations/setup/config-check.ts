import { renderProblem } from '../../config/problems/problems.ts';
import { readYaml } from '../../config/problems/read.ts';
import { missingSettings, settingsWithoutEffect } from '../../config/problems/without-effect.ts';
import type { Access } from '../access.ts';
import { fail } from '../failure.ts';
import { requireValid } from './config-file.ts';

interface CheckedConfig {
  readonly isAbsent: boolean;
  /** A sentence for each setting that has none. */
  readonly withoutEffect: readonly string[];
}

/** Mistakes that the schema cannot see fail it; settings that have no effect are only named. */
export async function act({ here }: Access): Promise<CheckedConfig> {
  const { config, text, isAbsent } = requireValid(here, 'present');
  const reading = readYaml(text);
  const wrong = [
    ...missingSettings(config, reading, 'copse.yml').map(renderProblem),
    ...(await here.intakeProblems(config)),
  ];
  if (wrong.length > 0) fail('invalid', wrong.join('\n'), 'copse config check # after you correct it');
  return { isAbsent, withoutEffect: settingsWithoutEffect(config, reading, 'copse.yml').map(renderProblem) };
}

export function view({ withoutEffect }: CheckedConfig) {
  return { ok: true as const, ...(withoutEffect.length > 0 && { withoutEffect }) };
}
