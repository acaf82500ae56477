import { type ReportHandling, reportStuck } from '../../../agents/act/report.ts';
import type { TaskId } from '../../../kernel/ids.ts';
import { fail, orFail } from '../../../operations/failure.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { readInput } from '../../read-text.ts';
import { tellPeople, withReporting } from './report-here.ts';
import { printSteps } from '../../after/next-steps.ts';

interface Options {
  readonly reason?: string;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const reason = await reasonFrom(cli, options);
  await withReporting(cli, words[0], async (context, about) => {
    const { task } = about;
    const after = await context.board.lastEvent();
    const said = orFail(await reportStuck(context, about, reason));
    tell(cli, options, task, said);
    if (said === 'by_hand') await tellPeople(cli, context, after);
  });
}

function tell({ output }: Cli, options: Options, task: TaskId, said: ReportHandling): void {
  if (options.json) output.json({ task, reported: 'stuck', isDone: said === 'by_hand' });
  else if (said === 'by_hand') {
    output.line(`${task} is stuck: it waits for a person's decision.`);
    printSteps(output, [
      `copse restart ${task} --answer "…"`,
      `copse work ${task} --resume # to continue by hand`,
    ]);
  } else {
    output.line(`Reported ${task} as stuck.`);
    output.line(
      'Stop now and leave the worktree as it is. A person reads the reason, and the task continues with the answer.',
    );
  }
}

async function reasonFrom(cli: Invocation['cli'], { reason }: Options): Promise<string> {
  if (reason === undefined) {
    return fail(
      'invalid',
      '--reason is missing: say what only a person can decide.',
      'copse stuck --reason "…"',
    );
  }
  return reason === '-' ? readInput(cli, '-') : reason;
}
