import { reportPhase } from '../../app/report.ts';
import { orFail } from '../failure.ts';
import type { Invocation } from '../invocation.ts';
import { withReporting } from '../report-here.ts';

interface Options {
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const [word = '', id] = words;
  await withReporting(cli, id, async (context, about) => {
    const phase = orFail(await reportPhase(context, about, word));
    if (options.json) cli.output.json({ task: about.task, phase });
    else cli.output.line(`${about.task} is in the phase ${phase}.`);
  });
}
