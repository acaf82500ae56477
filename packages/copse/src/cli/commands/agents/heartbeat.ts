import { reportHeartbeat } from '../../../agents/act/report.ts';
import { orFail } from '../../../operations/failure.ts';
import type { Invocation } from '../../invocation.ts';
import { withReporting } from './report-here.ts';

interface Options {
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withReporting(cli, words[0], async (context, about) => {
    const task = orFail(await reportHeartbeat(context, about));
    if (options.json) cli.output.json({ task, alive: true });
    else cli.output.line(`Renewed the lease of ${task}.`);
  });
}
