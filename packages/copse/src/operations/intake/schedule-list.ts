import { type KnownSchedule, loadSchedules } from '../../intake/act/schedules.ts';
import type { Timestamp } from '../../kernel/ids.ts';
import type { Access } from '../access.ts';
import { scheduleView } from '../views/intake-views.ts';
import { withIntake } from './find.ts';

interface ListedSchedules {
  readonly schedules: readonly KnownSchedule[];
  readonly at: Timestamp;
}

export async function act(access: Access): Promise<ListedSchedules> {
  return withIntake(access, async (context, intake) => ({
    schedules: await loadSchedules(context, intake),
    at: context.clock.now(),
  }));
}

export function view({ schedules }: ListedSchedules) {
  return { schedules: schedules.map(scheduleView) };
}
