/**
 * The board: the shared record of all tasks, sessions, landings, ledger entries and events.
 *
 * There is one way to change it: `record` events inside `transact`. The events and the records that they change are
 * written in one transaction, so there is no state without its event and no event without its state. Three writes are
 * not events: renewals of a lease and heartbeats of a machine, because they change nothing but a time, and answers that
 * are kept for a day.
 */

import type { KeptAnswer, KeyedRequest, KeyTaken } from './rules/keyed-request.ts';
import type { BoardLine } from './rules/board-line.ts';
import type { Check } from '../queue/rules/check.ts';
import type { Lease, Renewal } from '../tasks/rules/claim.ts';
import type { Author, BoardEvent, EventType, RecordKind, RecordedEvent, Records } from './rules/event.ts';
import type {
  AgentName,
  EventNumber,
  FencingToken,
  JobId,
  NodeId,
  PlanId,
  TaskId,
  Timestamp,
} from '../kernel/ids.ts';
import type { Landing } from '../queue/rules/landing.ts';
import type { Task, TaskStatus, TaskSummary, WorkItem } from '../tasks/rules/task.ts';
import { Unavailable } from '../kernel/unavailable.ts';
import type { SnapshotReason } from './rules/snapshots.ts';
import type { BoardServer, BoardTerm } from './rules/term.ts';

export type TaskQuery = TaskFilter & {
  /** `urgent`: by priority, then age. `recent`: the latest change first. */
  readonly order: 'urgent' | 'recent';
} & (
    | { readonly limit?: number; readonly offset?: never }
    | { readonly limit: number; readonly offset: number }
  );

export interface TaskFilter {
  readonly statuses?: readonly TaskStatus[];
  readonly finished?: boolean;
  readonly plan?: PlanId;
  readonly agent?: AgentName;
  readonly workItem?: Pick<WorkItem, 'source' | 'id'>;
  /** Only those that a schedule or a trigger made; or the one of this job. */
  readonly job?: 'any' | JobId;
  /** Without tasks that may not be claimed until later. */
  readonly due?: Timestamp;
  /** Only those that are not to be claimed before a later time. */
  readonly delayedAt?: Timestamp;
}

/** A task that is in progress, with the lease that says so. */
export interface Held {
  readonly task: TaskSummary;
  readonly lease: Lease;
}

/** Which ready task an agent may take now. */
export interface ReadyQuery {
  readonly at: Timestamp;
  readonly agent: { readonly name: AgentName; readonly capabilities: readonly string[] };
  /** Tasks that were moved to other nodes are left out. */
  readonly node: NodeId;
}

export interface EventQuery {
  readonly after: EventNumber;
  readonly limit: number;
  readonly task?: TaskId;
  readonly types?: readonly EventType[];
}

/** Agents write events of up to a megabyte, so a page ends early once it has `mostBytes`. It has at least one event, if there is one. */
export interface EventPageQuery extends EventQuery {
  readonly mostBytes: number;
}

export interface EventPage {
  readonly events: readonly RecordedEvent[];
  readonly hasMore: boolean;
}

export interface BoardReader {
  get<K extends RecordKind>(kind: K, id: string): Promise<Records[K] | undefined>;
  /** Oldest first. */
  list<K extends Exclude<RecordKind, 'task'>>(
    kind: K,
    where?: { readonly task: TaskId },
  ): Promise<readonly Records[K][]>;
  /** Those that exist, by id. */
  some<K extends Exclude<RecordKind, 'task'>>(
    kind: K,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, Records[K]>>;
  tasks(query: TaskQuery): Promise<readonly TaskSummary[]>;
  idsStartingWith(
    kind: 'task' | 'plan' | 'artifact',
    prefix: string,
    limit: number,
  ): Promise<readonly string[]>;
  statuses(ids: readonly TaskId[]): Promise<ReadonlyMap<TaskId, TaskStatus>>;
  /** How many tasks have each status; none without tasks. */
  countByStatus(): Promise<ReadonlyMap<TaskStatus, number>>;
  /** The tasks that directly depend on this one. */
  dependants(id: TaskId): Promise<readonly TaskId[]>;
  /** The unfinished tasks that depend on each of these, and on each of those in turn. */
  dependantGraph(from: readonly TaskId[]): Promise<ReadonlyMap<TaskId, readonly TaskId[]>>;
  /** The unfinished tasks that depend on cancelled ones, each with those. */
  dependsOnCancelled(): Promise<ReadonlyMap<TaskId, readonly TaskId[]>>;
  /** What each task reachable from these depends on. */
  dependencyGraph(from: readonly TaskId[]): Promise<ReadonlyMap<TaskId, readonly TaskId[]>>;
  lease(task: TaskId): Promise<Lease | undefined>;
  /** All tasks in progress. */
  held(): Promise<readonly Held[]>;
  /** Landings that have not ended, in the order of the queue. */
  openLandings(): Promise<readonly Landing[]>;
  /** All checks of exactly this tree, the oldest first. */
  checksOf(tree: string): Promise<readonly Check[]>;
  events(query: EventQuery): Promise<readonly RecordedEvent[]>;
  eventPage(query: EventPageQuery): Promise<EventPage>;
  lastEvent(): Promise<EventNumber>;
}

/** Records read by `get` and `statuses` are locked until the transaction ends. */
export interface BoardTransaction extends BoardReader {
  /** The most urgent ready task whose delay is over, that the agent may take and no other transaction has locked. */
  nextReady(query: ReadyQuery): Promise<Task | undefined>;
  /** Taken before changing dependencies, so that two changes cannot make a cycle together. */
  lockDependencies(): Promise<void>;
  /** Taken first of all before starting work, so that two orchestrators cannot exceed a limit together. */
  lockSchedule(): Promise<void>;
  /** Also true for ids of deleted tasks, which are never given out again. */
  wasUsed(id: string): Promise<boolean>;
  record(by: Author, events: readonly BoardEvent[]): Promise<void>;
  /** With this transaction, the keyed request counts as carried out. False: another request took its key over. */
  useKey(request: KeyedRequest): Promise<boolean>;
}

export interface Board extends BoardReader {
  readonly engine: 'sqlite' | 'postgres';
  /** Its address without a password. */
  readonly location: string;
  /** May run the work several times, so it must have no effects other than on the board. */
  transact<T>(work: (transaction: BoardTransaction) => Promise<T>): Promise<T>;
  renewLease(task: TaskId, token: FencingToken, at: Timestamp): Promise<Renewal>;
  /** A sign of life of a node. Returns the time of the board's server. */
  seeNode(id: NodeId): Promise<Timestamp>;
  /** How long each node has not been heard from, by the clock of the board's server; absent: never. */
  silences(): Promise<ReadonlyMap<NodeId, number>>;
  /** What became of an earlier request with this key; none: this request carries it out. */
  takeKey(request: KeyedRequest, at: Timestamp): Promise<KeyTaken>;
  /** A refusal after a change is kept; one without a change frees the key. A fault is never kept. */
  keepAnswer(request: KeyedRequest, answer: KeptAnswer): Promise<void>;
  /** Calls `wake` soon after any process recorded an event. May call it without a change. */
  onChange(wake: () => void): Promise<Subscription>;
  /** Everything that `read` reads is true at one event number; writers are not blocked. */
  readAtOnce<T>(read: (board: BoardReader) => Promise<T>): Promise<T>;
  /** A consistent snapshot; other writers are not blocked. */
  exportTo(write: (line: BoardLine) => Promise<void>): Promise<void>;
  importFrom(lines: AsyncIterable<BoardLine>): Promise<ImportOutcome>;
  /** Copies the board while others write. The copy is checked before it counts. */
  backUp(reason: SnapshotReason, at: Timestamp): Promise<BackedUp>;
  /** What the database finds wrong with itself; empty when nothing is. */
  findDamage(): Promise<readonly string[]>;
  /** The servers that had the board, oldest first; one term for a file. */
  terms(): Promise<readonly BoardTerm[]>;
  /** What its server promises about failovers; null for a file. */
  server(): Promise<BoardServer | null>;
  /** The connection to the server; null for a file. */
  connection(): Promise<ConnectionFacts | null>;
  /** Throws `BoardTooNew` when a newer Copse has migrated the board since this process opened it. */
  requireCurrent(): Promise<void>;
  close(): Promise<void>;
}

export interface ConnectionFacts {
  /** As `PostgreSQL 17.5`. */
  readonly version: string;
  /** Of one question and its answer. */
  readonly latencyMs: number;
  /** As `TLSv1.3`; null without. */
  readonly tls: string | null;
  readonly connections: { readonly used: number; readonly most: number };
}

export type BackedUp =
  | { readonly kind: 'backed_up'; readonly file: string }
  /** No copy was kept, and no older one deleted. */
  | { readonly kind: 'damaged'; readonly problems: readonly string[] }
  /** The database is on a server, which has backups of its own. */
  | { readonly kind: 'left_to_server' };

export interface Subscription {
  stop(): Promise<void>;
}

export type ImportOutcome =
  | { readonly kind: 'imported'; readonly records: number; readonly events: number }
  | { readonly kind: 'bad_export' | 'not_empty'; readonly reason: string };

/** The board cannot be used at all: not found, too new, unreachable, not a board. */
export class BoardUnavailable extends Unavailable {
  override readonly name: string = 'BoardUnavailable';
}

/** The server of the board cannot be reached now, or the connection to it was lost. The same may succeed later. */
export class BoardAway extends BoardUnavailable {
  override readonly mayPass = true;
}

/**
 * The connection was lost between a commit and its answer. `settle` finds out what became of it, and makes sure that it
 * stays so; it throws `BoardAway` while the server is away.
 */
export class CommitUnknown extends BoardAway {
  readonly settle: () => Promise<'committed' | 'rolled_back'>;

  constructor(lost: BoardAway, settle: CommitUnknown['settle']) {
    super(lost.message, lost.remedy, { cause: lost });
    this.settle = settle;
  }
}

/** This process knows an older version of the board, and can no longer use it. */
export class BoardTooNew extends BoardUnavailable {
  override readonly name = 'BoardTooNew';
}
