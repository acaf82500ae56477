import { withAccess } from '../../../compose/operations/access.ts';
import { act, view } from '../../../operations/tasks/pause.ts';
import { printStopped } from '../../after/task-changes.ts';
import type { Invocation } from '../../invocation.ts';

export async function run({ cli, words, options }: Invocation<{ readonly json?: boolean }>): Promise<void> {
  await withAccess(cli, async (access) => {
    const stopped = await act(access, { task: words[0] ?? '' });
    if (options.json) cli.output.json(view(stopped));
    else await printStopped(cli, access, stopped);
  });
}
