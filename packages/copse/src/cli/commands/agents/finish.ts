import { finishByHand, previewFinish } from '../../../review/act/finish-here.ts';
import { reportFinish } from '../../../agents/act/report.ts';
import { addReportedHere } from '../../../agents/act/artifacts.ts';
import type { TaskId } from '../../../kernel/ids.ts';
import { taskView } from '../../../operations/views/views.ts';
import { orFail } from '../../../operations/failure.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { printAhead } from '../../after/ahead.ts';
import { taskLine } from '../../screen/render.ts';
import { withReporting } from './report-here.ts';
import { withRun } from '../../with-run.ts';

interface Options {
  /** False with `--no-changes`. */
  readonly changes?: boolean;
  readonly summary?: string;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const noChanges = options.changes === false;
  await withReporting(cli, words[0], async (context, about) => {
    const { task } = about;
    const report = { noChanges, summary: options.summary ?? null };
    if (context.by.kind === 'session') await addReportedHere(context, task);
    const preview = () => withRun(cli, {}, (run) => previewFinish(run, task, report));
    const said = orFail(await reportFinish(context, about, report, preview));
    if (said === 'by_hand') {
      const done = orFail(await withRun(cli, {}, (run) => finishByHand(run, task, report)));
      if (options.json) cli.output.json({ task: taskView(done) });
      else {
        cli.output.line(taskLine(done, cli.output, context.clock.now()));
        await printAhead(cli, context, done);
      }
      return;
    }
    tellReported(cli, options, task);
  });
}

function tellReported({ output }: Cli, options: Options, task: TaskId): void {
  const noChanges = options.changes === false;
  if (options.json) {
    output.json({ task, reported: 'finished', noChanges });
    return;
  }
  output.line(`Reported ${task} as finished${noChanges ? ', with nothing to change' : ''}.`);
  output.line(
    'Stop now. When your process has ended, Copse checks the work, then lands it, or tells you what to mend.',
  );
}
