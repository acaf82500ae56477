import { runDrawing } from '../../intake/act/draw.ts';
import { runSchedule } from '../../intake/act/schedules.ts';
import type { Access } from '../access.ts';
import { orFail } from '../failure.ts';
import { type StartedRun, startedRun, startedView } from '../views/intake-views.ts';
import { requireDefined, withIntake } from './find.ts';
import type { ScheduleInput } from './schedule-show.ts';

export async function act(access: Access, { schedule }: ScheduleInput): Promise<StartedRun> {
  return withIntake(access, async (context, intake) => {
    const definition = await requireDefined(context, intake, schedule);
    const isDrawing = definition.workSource !== null;
    const task = orFail(
      isDrawing
        ? await access.run((run) => runDrawing(run, definition))
        : await runSchedule(context, intake, definition),
    );
    return startedRun(task, context.clock.now());
  });
}

export function view(started: StartedRun) {
  return startedView(started);
}
