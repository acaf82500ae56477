import { shells } from '../../completion.ts';
import { fail } from '../../../operations/failure.ts';
import type { Invocation } from '../../invocation.ts';
import { completionScripts } from '../../program/completion-scripts.ts';

export async function run({ cli, words }: Invocation): Promise<void> {
  const shell = shells.find((known) => known === words[0]);
  if (shell === undefined)
    return fail(
      'invalid',
      `The shell must be one of ${shells.join(', ')}, not "${words[0] ?? ''}".`,
      'copse completion bash',
    );
  await cli.output.raw(completionScripts[shell]);
}
