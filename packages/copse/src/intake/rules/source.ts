/** Sources of work items, and an item as its source has it. */

import type { ScheduleId, Timestamp } from '../../kernel/ids.ts';

type SourceType = 'markdown' | 'github' | 'gitlab' | 'linear' | 'command';

export interface SourceSettings {
  readonly name: string;
  readonly type: SourceType;
  /** For people: the repository, the files or the command. */
  readonly place: string;
  readonly intervalMs: number;
  readonly onClosed: 'keep' | 'cancel';
  /** Null: everyone. */
  readonly onlyFrom: readonly string[] | null;
  readonly hasComments: boolean;
  readonly hasLabels: boolean;
  /** Schedules that take its items, one with each run. Empty: every item becomes a task at once. */
  readonly drawnBy: readonly ScheduleId[];
}

/** An item as the source has it now. */
export interface SeenItem {
  /** At the source. */
  readonly id: string;
  readonly title: string;
  readonly body: string;
  readonly url: string | null;
  readonly author: string | null;
  readonly isClosed: boolean;
  /** When its text or anything else of it last changed; null: unknown. Absent: its text and who asked come together. */
  readonly updatedAt?: Timestamp | null;
  /** Items of the same source that come first. */
  readonly dependsOn: readonly string[];
}
