/**
 * Everything a person wants to know at a glance: what needs them, what works, what lands, what is ready and why it waits.
 * `copse status`, `copse watch`, `copse inbox` and the panels of `copse orchestrate` show this, and nothing else.
 */

import type { AgentName, BranchName, NodeId, TaskId, Timestamp } from '../../kernel/ids.ts';
import type { TaskStatus } from '../../tasks/rules/task.ts';

export interface Overview {
  readonly at: Timestamp;
  readonly counts: Readonly<Record<TaskStatus, number>>;
  /** Those that unblock most tasks first, then the oldest. */
  readonly needsYou: readonly NeedsYou[];
  /** Oldest first, so that lines keep their place. */
  readonly working: readonly WorkingTask[];
  /** In the order of the queue. */
  readonly landing: readonly LandingTask[];
  /** The most urgent ones first; `counts.ready` says how many there are in all. */
  readonly ready: readonly ReadyTask[];
  /** Whether an orchestrator runs on this machine: if not, nothing starts and nothing lands. */
  readonly isOrchestrated: boolean;
}

interface OverviewTask {
  readonly task: TaskId;
  readonly title: string;
  readonly status: TaskStatus;
  readonly since: Timestamp;
}

/** What a person is asked for; it decides which keys and which command answer it. */
export type NeedKind =
  /** Its agent waits for a yes or no, and goes on after it. */
  | 'permission'
  /** Its agent stopped with a question. */
  | 'question'
  | 'review'
  /** It cannot land, or its agent stopped short. */
  | 'attention'
  | 'failed';

export interface NeedsYou extends OverviewTask {
  readonly kind: NeedKind;
  /** One line, beginning with a small letter. */
  readonly reason: string;
  /** Everything there is to know before answering; several lines. */
  readonly details: string;
  /** The command that answers it, as it can be pasted into a shell. */
  readonly command: string;
  /** How many unfinished tasks wait for it, directly or through others. */
  readonly unblocks: number;
  readonly agent: AgentName | null;
}

export interface WorkingTask extends OverviewTask {
  readonly agent: AgentName;
  readonly isByHand: boolean;
  readonly phase: string;
  /** Null on this machine. */
  readonly node: NodeId | null;
  /** The last line of its output, without control characters; null when there is none on this machine. */
  readonly lastLine: string | null;
}

export interface LandingTask extends OverviewTask {
  readonly target: BranchName;
  readonly position: number;
  readonly of: number;
  readonly why: string;
}

export interface ReadyTask extends OverviewTask {
  readonly why: string;
}
