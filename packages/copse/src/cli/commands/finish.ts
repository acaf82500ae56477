import { finishByHand, previewFinish } from '../../app/finish-here.ts';
import { reportFinish } from '../../app/report.ts';
import { taskView } from '../../protocol/views.ts';
import { orFail } from '../failure.ts';
import type { Invocation } from '../invocation.ts';
import { taskLine } from '../render.ts';
import { withReporting } from '../report-here.ts';
import { withRun } from '../with-run.ts';

interface Options {
  /** False with `--no-changes`. */
  readonly changes?: boolean;
  readonly summary?: string;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withReporting(cli, words[0], async (context, about) => {
    const { task } = about;
    const noChanges = options.changes === false;
    const report = { noChanges, summary: options.summary ?? null };
    const preview = () => withRun(cli, {}, (run) => previewFinish(run, task, report));
    const said = orFail(await reportFinish(context, about, report, preview));
    if (said === 'by_hand') {
      const done = orFail(await withRun(cli, {}, (run) => finishByHand(run, task, report)));
      if (options.json) cli.output.json({ task: taskView(done) });
      else cli.output.line(taskLine(done, cli.output, context.clock.now()));
      return;
    }
    if (options.json) {
      cli.output.json({ task, reported: 'finished', noChanges });
      return;
    }
    cli.output.line(`Reported: ${task} is finished${noChanges ? ', with nothing to change' : ''}.`);
    cli.output.line(
      'Stop now. When your process has ended, Copse checks the work and lands it, or tells you what is missing.',
    );
  });
}
