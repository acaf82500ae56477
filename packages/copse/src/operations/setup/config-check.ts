import type { Config } from '../../config/schema.ts';
import { parseConfig } from '../../config/parse.ts';
import { renderProblem } from '../../config/problems/problems.ts';
import { readYaml } from '../../config/problems/read.ts';
import { missingSettings, settingsWithoutEffect } from '../../config/problems/without-effect.ts';
import type { Access, CloneHere } from '../access.ts';
import { fail } from '../failure.ts';
import { requireValid } from './config-file.ts';

export interface CheckedConfig {
  readonly isAbsent: boolean;
  /** Of a file that is absent: a person accepted one, and Copse still uses that. */
  readonly isAccepted: boolean;
  /** The worktree around the caller has a different copse.yml, which is valid too. */
  readonly hasOther: boolean;
  /** A sentence for each setting that has none. */
  readonly withoutEffect: readonly string[];
}

/** Mistakes that the schema cannot see fail it; settings that have no effect are only named. */
export async function act({ here }: Access): Promise<CheckedConfig> {
  const { config, text, isAbsent } = requireValid(here, 'present');
  const wrong = await unseen(here, config, text);
  if (wrong.length > 0) fail('invalid', wrong.join('\n'), AGAIN);
  return {
    isAbsent,
    isAccepted: here.configFile('accepted').kind === 'text',
    hasOther: !isAbsent && (await checkWorktree(here, text)),
    withoutEffect: settingsWithoutEffect(config, readYaml(text), 'copse.yml').map(renderProblem),
  };
}

export function view({ withoutEffect }: CheckedConfig) {
  return { ok: true as const, ...(withoutEffect.length > 0 && { withoutEffect }) };
}

const AGAIN = 'copse config check # after you correct it';

async function unseen(here: CloneHere, config: Config, text: string): Promise<readonly string[]> {
  const missing = missingSettings(config, readYaml(text), 'copse.yml').map(renderProblem);
  return [...missing, ...(await here.intakeProblems(config))];
}

/** False when the worktree has the same file, or none. */
async function checkWorktree(here: CloneHere, used: string): Promise<boolean> {
  const around = here.configFile('around');
  if (around.kind !== 'text' || around.text === used) return false;
  const parsed = parseConfig(around.text, { file: 'copse.yml' });
  const wrong =
    parsed.kind === 'valid'
      ? await unseen(here, parsed.config, around.text)
      : parsed.problems.map(renderProblem);
  if (wrong.length === 0) return true;
  const head =
    'The copse.yml of the main checkout is valid. The copse.yml of this worktree differs, and has mistakes:';
  return fail('invalid', [head, ...wrong].join('\n'), AGAIN);
}
