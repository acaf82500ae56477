import { printScript, shells } from '../../completion.ts';
import { fail } from '../../failure.ts';
import type { Invocation } from '../../invocation.ts';

export function run({ program, words }: Invocation): Promise<void> {
  const shell = shells.find((known) => known === words[0]);
  if (shell === undefined) {
    return fail(
      'invalid',
      `The shell must be bash, zsh or fish, not "${words[0]}".`,
      'copse completion bash',
    );
  }
  printScript(program, shell);
  return Promise.resolve();
}
