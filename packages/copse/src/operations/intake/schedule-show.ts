import type { KnownSchedule } from '../../intake/act/schedules.ts';
import type { Timestamp } from '../../kernel/ids.ts';
import type { Access } from '../access.ts';
import { scheduleView } from '../views/intake-views.ts';
import { requireSchedule, withIntake } from './find.ts';

export interface ScheduleInput {
  readonly schedule: string;
}

export interface ShownSchedule {
  readonly known: KnownSchedule;
  readonly at: Timestamp;
}

export async function act(access: Access, { schedule }: ScheduleInput): Promise<ShownSchedule> {
  return withIntake(access, async (context, intake) => ({
    known: await requireSchedule(context, intake, schedule),
    at: context.clock.now(),
  }));
}

export function view({ known }: ShownSchedule) {
  return scheduleView(known);
}
