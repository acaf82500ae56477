import { reportPhase, unknownPhase } from '../../../agents/act/report.ts';
import type { TaskId } from '../../../kernel/ids.ts';
import { openPhases } from '../../../agents/rules/session/session.ts';
import { orFail } from '../../failure.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { withReporting } from './report-here.ts';
import { reportFromInside, taskInside } from './report-inside.ts';

interface Options {
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const [word = '', id] = words;
  const known = openPhases.find((phase) => phase === word);
  if (taskInside(cli, id) !== undefined && known === undefined) orFail(unknownPhase(word));
  const inside = known && reportFromInside(cli, id, { phase: known });
  if (inside) return tell(cli, options, inside, word);
  await withReporting(cli, id, async (context, about) => {
    const phase = orFail(await reportPhase(context, about, word));
    tell(cli, options, about.task, phase);
  });
}

function tell({ output }: Cli, options: Options, task: TaskId, phase: string): void {
  if (options.json) output.json({ task, phase });
  else output.line(`${task} is in phase ${phase}.`);
}
