import { reportStuck } from '../../app/report.ts';
import { fail, orFail } from '../failure.ts';
import type { Invocation } from '../invocation.ts';
import { readInput } from '../read-text.ts';
import { withReporting } from '../report-here.ts';

interface Options {
  readonly reason?: string;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const reason = await reasonFrom(cli, options);
  await withReporting(cli, words[0], async (context, about) => {
    const { task } = about;
    const said = orFail(await reportStuck(context, about, reason));
    if (options.json) cli.output.json({ task, reported: 'stuck', isDone: said === 'by_hand' });
    else if (said === 'by_hand')
      cli.output.line(`${task} is stuck. When it is decided: copse restart ${task}`);
    else {
      cli.output.line(`Reported: ${task} is stuck.`);
      cli.output.line(
        'Stop now. A person reads the reason, and the task goes on with the answer; your work is kept.',
      );
    }
  });
}

async function reasonFrom(cli: Invocation['cli'], { reason }: Options): Promise<string> {
  if (reason === undefined) {
    return fail('invalid', 'Why is it stuck? Say what only a person can decide.', 'copse stuck --reason "…"');
  }
  return reason === '-' ? readInput(cli, '-') : reason;
}
