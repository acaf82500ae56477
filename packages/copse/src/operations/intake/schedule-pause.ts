import { pauseSchedule } from '../../intake/act/schedules.ts';
import type { Access } from '../access.ts';
import { orFail } from '../failure.ts';
import { scheduleView } from '../views/intake-views.ts';
import { requireDefined, requireSchedule, withIntake } from './find.ts';
import type { ScheduleInput, ShownSchedule } from './schedule-show.ts';

export async function act(access: Access, { schedule }: ScheduleInput): Promise<ShownSchedule> {
  return withIntake(access, async (context, intake) => {
    const definition = await requireDefined(context, intake, schedule);
    orFail(await pauseSchedule(context, intake, definition));
    return { known: await requireSchedule(context, intake, definition.id), at: context.clock.now() };
  });
}

export function view({ known }: ShownSchedule) {
  return scheduleView(known);
}
