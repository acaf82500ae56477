import { withAccess } from '../../../compose/operations/access.ts';
import { act, view } from '../../../operations/intake/trigger.ts';
import type { Invocation } from '../../invocation.ts';
import { printStartedRun } from './started-run.ts';

interface Options {
  readonly item?: string;
  readonly prompt?: string;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const { item, prompt } = options;
  await withAccess(cli, async (access) => {
    const started = await act(access, { trigger: words[0] ?? '', item, prompt });
    if (options.json) return cli.output.json(view(started));
    await printStartedRun(cli, access, started);
  });
}
