import { printScript, shells } from '../../completion.ts';
import { fail } from '../../failure.ts';
import type { Invocation } from '../../invocation.ts';

export function run({ program, words }: Invocation): Promise<void> {
  const shell = shells.find((known) => known === words[0]);
  if (shell === undefined) {
    return fail(
      'invalid',
      `There is completion for ${shells.join(', ')}, not for "${words[0]}".`,
      'copse completion bash',
    );
  }
  printScript(program, shell);
  return Promise.resolve();
}
