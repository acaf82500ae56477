/** What intake needs from copse.yml and from outside. */

import type { BoardTransaction } from '../../board/port.ts';
import type { BoardEvent } from '../../board/rules/event.ts';
import type { TaskId, Timestamp } from '../../kernel/ids.ts';
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
interface WaitingItems {
  /** The oldest open item of the source without a task, locked in this transaction; undefined: none waits. */
  next(board: BoardTransaction, source: string): Promise<WaitingItem | undefined>;
}

export interface WaitingItem {
  readonly title: string;
  readonly body: string;
  readonly workItem: WorkItem;
  /** What is true once this task is the item's; recorded in the same transaction. */
  taken(task: TaskId, at: Timestamp): readonly BoardEvent[];
}
