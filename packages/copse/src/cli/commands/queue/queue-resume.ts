import { withAccess } from '../../../compose/operations/access.ts';
import { shellWord } from '../../../kernel/shell.ts';
import { shown } from '../../../kernel/text.ts';
import { act, view } from '../../../operations/queue/resume.ts';
import type { Invocation } from '../../invocation.ts';

interface Options {
  readonly accept?: boolean;
  readonly land?: boolean;
  readonly target?: string;
  readonly json?: boolean;
}

export async function run({ cli, options }: Invocation<Options>): Promise<void> {
  await withAccess(cli, async (access) => {
    const resumed = await act(access, options);
    const { output } = cli;
    if (options.json) return output.json(view(resumed));
    const here = options.target === undefined ? '' : ` --target ${shellWord(resumed.target)}`;
    const { accept, land } = resumed.queue.paused;
    output.line(`${output.style('cyan', 'Resumed')} the queue of ${shown(resumed.target)}`);
    if (accept !== null) output.line(`    It still accepts no tasks: copse queue resume --accept${here}`);
    if (land !== null) output.line(`    It still lands nothing: copse queue resume --land${here}`);
  });
}
