/** copse.yml as it is in the checkout, or as a person accepted it. */

import { type ParsedConfig, parseConfig } from '../../config/parse.ts';
import { renderProblem } from '../../config/problems/problems.ts';
import type { CloneHere } from '../access.ts';
import { fail } from '../failure.ts';

type ValidConfig = Extract<ParsedConfig, { kind: 'valid' }> & {
  readonly text: string;
  /** There is no file: the defaults apply. */
  readonly isAbsent: boolean;
};

export function requireValid(here: CloneHere, which: 'present' | 'accepted'): ValidConfig {
  const found = here.configFile(which);
  if (found.kind === 'unclear')
    fail('invalid', 'copse.yml exists but cannot be read.', 'Check that it is a file with read permission.');
  const text = found.kind === 'text' ? found.text : '';
  const parsed = parseConfig(text, { file: 'copse.yml' });
  if (parsed.kind === 'valid') return { ...parsed, text, isAbsent: found.kind === 'absent' };
  return fail(
    'invalid',
    parsed.problems.map(renderProblem).join('\n'),
    'copse config check # after you correct it',
  );
}
