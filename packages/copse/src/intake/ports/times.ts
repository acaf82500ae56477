/** When a cron expression comes next. */

import type { Timestamp } from '../../kernel/ids.ts';

export interface CronTimes {
  /** Null: never again. */
  after(cron: { readonly expression: string; readonly timeZone?: string }, at: Timestamp): Timestamp | null;
}
