import type { Access } from '../../../operations/access.ts';
import type { StartedRun } from '../../../operations/views/intake-views.ts';
import { printAhead } from '../../after/ahead.ts';
import type { Cli } from '../../invocation.ts';
import { taskLine } from '../../screen/render.ts';

/** The run of a schedule or a trigger, and what happens to it next. */
export async function printStartedRun(
  cli: Cli,
  access: Access,
  { job, task, at }: StartedRun,
): Promise<void> {
  cli.output.line(`Started ${job}: ${taskLine(task, cli.output, at)}`);
  await access.board((context) => printAhead(cli, context, task));
}
