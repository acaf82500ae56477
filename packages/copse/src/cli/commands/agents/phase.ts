import { withAccess } from '../../../compose/operations/access.ts';
import { act, view } from '../../../operations/agents/phase.ts';
import type { Invocation } from '../../invocation.ts';

interface Options {
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const [phase = '', task] = words;
  await withAccess(cli, async (access) => {
    const reported = await act(access, { task, phase });
    if (options.json) cli.output.json(view(reported));
    else cli.output.line(`${reported.task} is in phase ${reported.phase}.`);
  });
}
