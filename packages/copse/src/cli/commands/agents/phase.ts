import { reportPhase } from '../../../agents/act/report.ts';
import type { TaskId } from '../../../kernel/ids.ts';
import { orFail } from '../../../operations/failure.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { withReporting } from './report-here.ts';

interface Options {
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const [word = '', id] = words;
  await withReporting(cli, id, async (context, about) => {
    const phase = orFail(await reportPhase(context, about, word));
    tell(cli, options, about.task, phase);
  });
}

function tell({ output }: Cli, options: Options, task: TaskId, phase: string): void {
  if (options.json) output.json({ task, phase });
  else output.line(`${task} is in phase ${phase}.`);
}
