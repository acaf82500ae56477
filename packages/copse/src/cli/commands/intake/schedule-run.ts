import { runDrawing } from '../../../intake/act/draw.ts';
import { runSchedule } from '../../../intake/act/schedules.ts';
import { taskView } from '../../../operations/views/views.ts';
import { jobOf } from '../../../tasks/rules/task.ts';
import { printAhead } from '../../after/ahead.ts';
import { orFail } from '../../../operations/failure.ts';
import type { Invocation } from '../../invocation.ts';
import { taskLine } from '../../screen/render.ts';
import { withRun } from '../../with-run.ts';
import { requireDefined, withIntake } from './with-intake.ts';

interface Options {
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withIntake(cli, async (context, intake) => {
    const definition = await requireDefined(context, intake, words[0] ?? '');
    const isDrawing = definition.workSource !== null;
    const task = orFail(
      isDrawing
        ? await withRun(cli, {}, (run) => runDrawing(run, definition))
        : await runSchedule(context, intake, definition),
    );
    const job = jobOf(task.origin);
    if (options.json) return cli.output.json({ job, task: taskView(task) });
    cli.output.line(`Started ${job}: ${taskLine(task, cli.output, context.clock.now())}`);
    await printAhead(cli, context, task);
  });
}
