import { withAccess } from '../../../compose/operations/access.ts';
import { act, view } from '../../../operations/agents/heartbeat.ts';
import type { Invocation } from '../../invocation.ts';

interface Options {
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withAccess(cli, async (access) => {
    const task = await act(access, { task: words[0] });
    if (options.json) cli.output.json(view(task));
    else cli.output.line(`Renewed the lease of ${task}.`);
  });
}
