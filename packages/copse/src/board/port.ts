/**
 * The board: the shared record of all tasks, sessions, landings, ledger entries and events.
 *
 * There is one way to change it: `record` events inside `transact`. What the events make of the records is
 * written in the same transaction as the events themselves, so there is no state without its event and no event
 * without its state. The only writes that are not events are renewals of a lease and signs of life of a node:
 * they say that something still holds, not that something happened.
 */

import type { BoardLine } from './rules/board-line.ts';
import type { Check } from '../queue/rules/check.ts';
import type { Lease, Renewal } from '../tasks/rules/claim.ts';
import type { Author, BoardEvent, EventType, RecordKind, RecordedEvent, Records } from './rules/event.ts';
import type {
  AgentName,
  EventNumber,
  FencingToken,
  NodeId,
  PlanId,
  TaskId,
  Timestamp,
} from '../kernel/ids.ts';
import type { Landing } from '../queue/rules/landing.ts';
import type { Task, TaskStatus, TaskSummary, WorkItem } from '../tasks/rules/task.ts';
import { Unavailable } from '../kernel/unavailable.ts';

export interface TaskQuery {
  readonly statuses?: readonly TaskStatus[];
  readonly finished?: boolean;
  readonly plan?: PlanId;
  readonly agent?: AgentName;
  readonly workItem?: Pick<WorkItem, 'source' | 'id'>;
  /** `urgent`: by priority, then age. `recent`: the latest change first. */
  readonly order: 'urgent' | 'recent';
  /** Without those that are not to be claimed before a later time. */
  readonly due?: Timestamp;
  /** Only those that are not to be claimed before a later time. */
  readonly delayedAt?: Timestamp;
  readonly limit?: number;
  readonly offset?: number;
}

/** A task that is in progress, with the lease that says so. */
export interface Held {
  readonly task: TaskSummary;
  readonly lease: Lease;
}

/** Which ready task an agent may take at a time. */
export interface ReadyQuery {
  readonly at: Timestamp;
  readonly agent: { readonly name: AgentName; readonly capabilities: readonly string[] };
}

export interface EventQuery {
  readonly after: EventNumber;
  readonly limit: number;
  readonly task?: TaskId;
  readonly types?: readonly EventType[];
}

export interface BoardReader {
  get<K extends RecordKind>(kind: K, id: string): Promise<Records[K] | undefined>;
  /** Oldest first. */
  list<K extends Exclude<RecordKind, 'task'>>(
    kind: K,
    where?: { readonly task: TaskId },
  ): Promise<readonly Records[K][]>;
  tasks(query: TaskQuery): Promise<readonly TaskSummary[]>;
  idsStartingWith(kind: 'task' | 'plan', prefix: string, limit: number): Promise<readonly string[]>;
  statuses(ids: readonly TaskId[]): Promise<ReadonlyMap<TaskId, TaskStatus>>;
  /** The tasks that directly depend on this one. */
  dependants(id: TaskId): Promise<readonly TaskId[]>;
  /** What each task reachable from these depends on. */
  dependencyGraph(from: readonly TaskId[]): Promise<ReadonlyMap<TaskId, readonly TaskId[]>>;
  lease(task: TaskId): Promise<Lease | undefined>;
  /** All that is in progress, whoever holds it. */
  held(): Promise<readonly Held[]>;
  /** Landings that are neither landed nor given up, in the order they were queued. */
  openLandings(): Promise<readonly Landing[]>;
  /** All that were made of exactly this tree, the oldest first. */
  checksOf(tree: string): Promise<readonly Check[]>;
  expiredLeases(at: Timestamp): Promise<readonly Lease[]>;
  events(query: EventQuery): Promise<readonly RecordedEvent[]>;
  lastEvent(): Promise<EventNumber>;
}

/** Whatever `get` and `statuses` return here stays as it is until the transaction ends. */
export interface BoardTransaction extends BoardReader {
  /** The most urgent ready task whose delay is over, that the agent may take and nobody else is taking right now. */
  nextReady(query: ReadyQuery): Promise<Task | undefined>;
  /** Whoever changes dependencies does so alone, so that two changes cannot close a cycle together. */
  lockDependencies(): Promise<void>;
  /** Whoever begins work within limits does so alone, so that two cannot take the last place together. First of all. */
  lockSchedule(): Promise<void>;
  /** An id that was ever used, even by a task that is gone, is never given out again. */
  wasUsed(id: string): Promise<boolean>;
  record(by: Author, events: readonly BoardEvent[]): Promise<void>;
}

export interface Board extends BoardReader {
  readonly engine: 'sqlite' | 'postgres';
  /** Where it is, safe to print. */
  readonly location: string;
  /** Runs the work again from the start if the engine asks for it, so it must not have effects of its own. */
  transact<T>(work: (transaction: BoardTransaction) => Promise<T>): Promise<T>;
  renewLease(task: TaskId, token: FencingToken, at: Timestamp): Promise<Renewal>;
  seeNode(id: NodeId, at: Timestamp): Promise<void>;
  lastSeen(id: NodeId): Promise<Timestamp | undefined>;
  /** Calls `wake` soon after anything was recorded, by whichever process. May call it for nothing. */
  onChange(wake: () => void): Promise<Subscription>;
  /** Everything as of one moment, while others go on writing. */
  exportTo(write: (line: BoardLine) => Promise<void>): Promise<void>;
  importFrom(lines: AsyncIterable<BoardLine>): Promise<ImportOutcome>;
  close(): Promise<void>;
}

export interface Subscription {
  stop(): Promise<void>;
}

export type ImportOutcome =
  | { readonly imported: true; readonly records: number; readonly events: number }
  | { readonly imported: false; readonly because: 'bad_export' | 'not_empty'; readonly reason: string };

/** The board cannot be used at all: not found, too new, unreachable, not a board. */
export class BoardUnavailable extends Unavailable {
  override readonly name = 'BoardUnavailable';
}
