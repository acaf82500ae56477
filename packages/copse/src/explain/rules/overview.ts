/**
 * Everything a person wants to know at a glance: what needs them, what works, what lands, what is ready and why it waits.
 * `copse status`, `copse watch`, `copse inbox` and the panels of `copse orchestrate` show this, and nothing else.
 */

import type { AgentName, BranchName, TaskId, Timestamp } from '../../kernel/ids.ts';
import { unreachable } from '../../kernel/unreachable.ts';
import type { WaitReason } from '../../queue/rules/wait-reason.ts';
import type { TaskStatus } from '../../tasks/rules/task.ts';
import type { Lack } from './waiting.ts';

export interface Overview {
  readonly at: Timestamp;
  readonly counts: Readonly<Record<TaskStatus, number>>;
  /** Those that unblock most tasks first, then the oldest. */
  readonly needsYou: readonly NeedsYou[];
  /** How many more a filter hides. */
  readonly hiddenNeeds?: number;
  /** Without those that need you. Oldest first, so that lines keep their place. */
  readonly working: readonly WorkingTask[];
  /** Without those that need you. In the order of the queue. */
  readonly landing: readonly LandingTask[];
  /** Queues that a person paused, also those without tasks. */
  readonly pauses?: readonly QueuePause[];
  /** The most urgent ones first; `counts.ready` says how many there are in all. */
  readonly ready: readonly ReadyTask[];
  /** Whether an orchestrator runs on this machine: if not, nothing starts and nothing lands here. */
  readonly isOrchestrated: boolean;
  /** Names of other nodes that take tasks; empty while an orchestrator runs on this machine. */
  readonly otherNodes?: readonly string[];
  /** Why an orchestrator cannot start here, with the next command; null when it can. */
  readonly noAgents: Lack | null;
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
  | 'failed'
  /** Its agent runs and waits for a person, without a question that Copse could answer. */
  | 'waiting'
  /** The queue waits for a person: this task is the first that it holds. */
  | 'landing'
  /** It depends on a task that was cancelled. */
  | 'dependency';

export interface NeedsYou extends OverviewTask {
  readonly kind: NeedKind;
  /** One line. It begins with a capital letter, or with the name of a branch or file. */
  readonly reason: string;
  /** Everything there is to know before answering; several lines. */
  readonly details: string;
  /** The command that answers it, as it can be pasted into a shell. */
  readonly command: string;
  /** How many unfinished tasks wait for it, directly or through others. */
  readonly unblocks: number;
  readonly agent: AgentName | null;
  /** Of `attention`: it has uncommitted files or no commits, so it can be neither approved nor queued. */
  readonly hasNothingToLand?: true;
  readonly hasTerminal?: true;
}

export interface WorkingTask extends OverviewTask {
  readonly agent: AgentName;
  readonly isByHand: boolean;
  /** Null before its agent has reported one, and when it works by hand, without a session that reports phases. */
  readonly phase: string | null;
  /** Its name; null on this machine, if there is no other. */
  readonly node: string | null;
  /** The last line of its output, without control characters; null when there is none on this machine. */
  readonly lastLine: string | null;
  /** Its runner is gone: `lastLine` is a sentence of Copse. */
  readonly isLapsed?: true;
  /** It runs in a terminal that a person can attach to. */
  readonly hasTerminal?: true;
  /** The person who has taken over its terminal. */
  readonly takenOverBy?: string;
}

export interface LandingTask extends OverviewTask {
  readonly target: BranchName;
  readonly position: number;
  readonly of: number;
  readonly why: string;
  /** No process leads its queue: it waits until a person merges it or starts an orchestrator. */
  readonly isUnled?: true;
}

export interface QueuePause {
  readonly target: BranchName;
  /** `accept`: it lands what was in it, and tasks that join it wait. */
  readonly what: 'land' | 'accept';
}

export interface ReadyTask extends OverviewTask {
  readonly why: string;
  /** No agent can take it before a person changes the task or the agents. */
  readonly isUntakable?: boolean;
}

/** Those that unblock most tasks first, then the oldest. */
export function rankNeeds(needs: readonly NeedsYou[]): readonly NeedsYou[] {
  return needs.toSorted(
    (one, other) =>
      other.unblocks - one.unblocks || one.since - other.since || (one.task < other.task ? -1 : 1),
  );
}

/**
 * How many tasks wait for this one, directly or through others. `dependants`: the unfinished tasks that depend on each;
 * `holds`: those behind it in a queue that stalled.
 */
export function countUnblocked(
  task: TaskId,
  dependants: ReadonlyMap<TaskId, readonly TaskId[]>,
  holds: readonly TaskId[] = [],
): number {
  const reached = new Set<TaskId>([task, ...holds]);
  // A set is walked in the order of insertion, entries that are added meanwhile included.
  for (const one of reached) for (const waiting of dependants.get(one) ?? []) reached.add(waiting);
  return reached.size - 1;
}

/** Whether the queue goes on only after a person did something. Other waits end without one, or a person chose them. */
export function waitsForPerson({ kind }: WaitReason): boolean {
  switch (kind) {
    case 'checkout_changed':
    case 'push_failed':
    case 'target_missing':
    case 'target_diverged':
    case 'checks_unavailable':
    case 'target_red':
    case 'queue_failed':
    case 'note':
      return true;
    case 'dependency':
    case 'not_accepted':
    case 'paused':
    case 'checkout_busy':
    case 'remote_unreachable':
    case 'head_missing':
    case 'landing_failed':
    case 'one_at_a_time':
    case 'no_slot':
    case 'nothing_to_check':
      return false;
    default:
      return unreachable(kind);
  }
}
