import { pauseSchedule } from '../../../intake/act/schedules.ts';
import { scheduleView } from '../../../operations/views/intake-views.ts';
import { orFail } from '../../../operations/failure.ts';
import type { Invocation } from '../../invocation.ts';
import { nextText } from './schedule-list.ts';
import { requireDefined, requireSchedule, withIntake } from './with-intake.ts';

interface Options {
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withIntake(cli, async (context, intake) => {
    const definition = await requireDefined(context, intake, words[0] ?? '');
    orFail(await pauseSchedule(context, intake, definition));
    const known = await requireSchedule(context, intake, definition.id);
    if (options.json) return cli.output.json(scheduleView(known));
    cli.output.line(`${definition.id} paused`);
    cli.output.line(cli.output.style('dim', `    ${nextText(known, context.clock.now())}`));
  });
}
