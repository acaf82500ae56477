import { withAccess } from '../../../compose/operations/access.ts';
import { act, view } from '../../../operations/intake/schedule-run.ts';
import type { Invocation } from '../../invocation.ts';
import { printStartedRun } from './started-run.ts';

interface Options {
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withAccess(cli, async (access) => {
    const started = await act(access, { schedule: words[0] ?? '' });
    if (options.json) return cli.output.json(view(started));
    await printStartedRun(cli, access, started);
  });
}
