import { withAccess } from '../../../compose/operations/access.ts';
import { act, view } from '../../../operations/tasks/cancel.ts';
import { printStopped } from '../../after/task-changes.ts';
import type { Invocation } from '../../invocation.ts';

interface Options {
  readonly reason?: string;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withAccess(cli, async (access) => {
    const stopped = await act(access, { task: words[0] ?? '', reason: options.reason });
    if (options.json) cli.output.json(view(stopped));
    else await printStopped(cli, access, stopped);
  });
}
