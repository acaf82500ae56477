import { reportHeartbeat } from '../../../agents/act/report.ts';
import { orFail } from '../../failure.ts';
import type { Invocation } from '../../invocation.ts';
import { withReporting } from './report-here.ts';
import { taskInside } from './report-inside.ts';

interface Options {
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const inside = taskInside(cli, words[0]);
  // The runner renews the lease; inside the sandbox that cannot be verified.
  if (inside !== undefined) {
    if (options.json) cli.output.json({ task: inside, alive: true });
    else cli.output.line(`Noted: the work on ${inside} goes on.`);
    return;
  }
  await withReporting(cli, words[0], async (context, about) => {
    const task = orFail(await reportHeartbeat(context, about));
    if (options.json) cli.output.json({ task, alive: true });
    else cli.output.line(`Renewed the lease of ${task}.`);
  });
}
