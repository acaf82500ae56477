/** What intake needs from copse.yml and from outside. */

import type { Change } from '../../board/context.ts';
import type { TaskId } from '../../kernel/ids.ts';
import type { WorkItem } from '../../tasks/rules/task.ts';
import type { ScheduleDefinition } from '../rules/schedule.ts';
import type { TriggerDefinition } from '../rules/trigger.ts';
import type { CronTimes } from './times.ts';

export interface Intake {
  readonly schedules: readonly ScheduleDefinition[];
  readonly triggers: readonly TriggerDefinition[];
  readonly cron: CronTimes;
  /** Null: sources are not read here, so schedules with a work source start nothing. */
  readonly items: WaitingItems | null;
}

/** Items of sources that a schedule takes one by one. */
export interface WaitingItems {
  /** The oldest open item of the source without a task, locked in this transaction; undefined: none waits. */
  next(change: Change, source: string): Promise<WaitingItem | undefined>;
}

export interface WaitingItem {
  readonly title: string;
  readonly body: string;
  readonly workItem: WorkItem;
  /** Records in the same transaction that this task is the item's. */
  take(task: TaskId): Promise<void>;
}
