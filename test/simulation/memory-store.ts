/** A board in memory: the events, what `evolve` makes of them, and the leases. One transaction at a time. */

import { metCapabilities } from '../../packages/copse/src/tasks/rules/capabilities.ts';
import type { Check } from '../../packages/copse/src/queue/rules/check.ts';
import { type Lease, type Renewal, decideRenewal } from '../../packages/copse/src/tasks/rules/claim.ts';
import {
  type AnyRecord,
  type Author,
  type BoardEvent,
  type RecordKind,
  type RecordedEvent,
  type Records,
  evolve,
  kindOf,
  recordKinds,
} from '../../packages/copse/src/board/rules/event.ts';
import type {
  EventNumber,
  FencingToken,
  NodeId,
  TaskId,
  Timestamp,
} from '../../packages/copse/src/kernel/ids.ts';
import { type Landing, openLandingStatuses } from '../../packages/copse/src/queue/rules/landing.ts';
import { defaultPolicy } from '../../packages/copse/src/kernel/policy.ts';
import {
  type Task,
  type TaskStatus,
  type TaskSummary,
  isFinished,
  jobOf,
} from '../../packages/copse/src/tasks/rules/task.ts';
import type {
  BoardTransaction,
  EventPage,
  EventPageQuery,
  EventQuery,
  Held,
  ReadyQuery,
  TaskQuery,
} from '../../packages/copse/src/board/port.ts';

export class MemoryStore {
  readonly records = Object.fromEntries(recordKinds.map((kind) => [kind, new Map()])) as unknown as {
    readonly [K in RecordKind]: Map<string, Records[K]>;
  };
  readonly leases = new Map<TaskId, Lease>();
  readonly log: RecordedEvent[] = [];
  readonly #used = new Set<string>();
  readonly #seen = new Map<NodeId, Timestamp>();

  get<K extends RecordKind>(kind: K, id: string): Records[K] | undefined {
    return this.records[kind].get(id);
  }

  list<K extends Exclude<RecordKind, 'task'>>(
    kind: K,
    where?: { readonly task: TaskId },
  ): readonly Records[K][] {
    const all = [...this.records[kind].values()] as readonly Records[K][];
    const wanted = where === undefined ? all : all.filter((one) => taskOf(kind, one) === where.task);
    // Those of one moment are as they came; of several tasks, as the board has them.
    const byId = (one: AnyRecord, other: AnyRecord) => (where === undefined ? compare(one.id, other.id) : 0);
    return wanted.toSorted((one, other) => createdAt(one) - createdAt(other) || byId(one, other));
  }

  some<K extends Exclude<RecordKind, 'task'>>(
    kind: K,
    ids: readonly string[],
  ): ReadonlyMap<string, Records[K]> {
    const found = ids.flatMap((id) => {
      const record = this.get(kind, id);
      return record === undefined ? [] : [[id, record] as const];
    });
    return new Map(found);
  }

  tasks(query: TaskQuery): readonly TaskSummary[] {
    const {
      statuses,
      plan,
      agent,
      workItem,
      job,
      finished,
      due,
      delayedAt,
      order,
      offset = 0,
      limit,
    } = query;
    const wanted = [...this.records.task.values()].filter(
      (task) =>
        (statuses === undefined || statuses.includes(task.state.status)) &&
        (plan === undefined || task.plan === plan) &&
        (agent === undefined || task.agent === agent) &&
        (workItem === undefined ||
          (task.workItem?.source === workItem.source && task.workItem.id === workItem.id)) &&
        (job === undefined || (job === 'any' ? jobOf(task.origin) !== null : jobOf(task.origin) === job)) &&
        (finished === undefined || isFinished(task.state.status) === finished) &&
        (due === undefined || notBefore(task) <= due) &&
        (delayedAt === undefined || notBefore(task) > delayedAt),
    );
    const sorted = order === 'urgent' ? wanted.toSorted(byUrgency) : wanted.toSorted(byRecency);
    return sorted.slice(offset, limit === undefined ? undefined : offset + limit).map(summary);
  }

  idsStartingWith(kind: 'task' | 'plan' | 'artifact', prefix: string, limit: number): readonly string[] {
    const ids = [...this.records[kind].keys()].filter((id) => id.startsWith(prefix));
    return ids.toSorted(compare).slice(0, limit);
  }

  statuses(ids: readonly TaskId[]): ReadonlyMap<TaskId, TaskStatus> {
    const found = [...ids].toSorted(compare).flatMap((id) => {
      const task = this.records.task.get(id);
      return task === undefined ? [] : [[id, task.state.status] as const];
    });
    return new Map(found);
  }

  dependants(id: TaskId): readonly TaskId[] {
    const waiting = [...this.records.task.values()].filter(({ dependsOn }) => dependsOn.includes(id));
    return waiting.map((task) => task.id).toSorted(compare);
  }

  countByStatus(): ReadonlyMap<TaskStatus, number> {
    const counts = new Map<TaskStatus, number>();
    for (const { state } of this.records.task.values())
      counts.set(state.status, (counts.get(state.status) ?? 0) + 1);
    return counts;
  }

  dependantGraph(from: readonly TaskId[]): ReadonlyMap<TaskId, readonly TaskId[]> {
    const graph = new Map<TaskId, readonly TaskId[]>();
    const open = [...from];
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      const live = this.dependants(id).filter(
        (one) => !isFinished(this.records.task.get(one)?.state.status ?? 'done'),
      );
      if (graph.has(id) || live.length === 0) continue;
      graph.set(id, live);
      open.push(...live);
    }
    return graph;
  }

  dependsOnCancelled(): ReadonlyMap<TaskId, readonly TaskId[]> {
    const isCancelled = (id: TaskId) => this.records.task.get(id)?.state.status === 'cancelled';
    const live = [...this.records.task.values()].filter(({ state }) => !isFinished(state.status));
    return new Map(
      live
        .map(({ id, dependsOn }) => [id, dependsOn.filter(isCancelled)] as const)
        .filter(([, over]) => over.length > 0),
    );
  }

  dependencyGraph(from: readonly TaskId[]): ReadonlyMap<TaskId, readonly TaskId[]> {
    const graph = new Map<TaskId, readonly TaskId[]>();
    const open = [...from];
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      const { dependsOn = [] } = this.records.task.get(id) ?? {};
      if (graph.has(id) || dependsOn.length === 0) continue;
      graph.set(id, dependsOn);
      open.push(...dependsOn);
    }
    return graph;
  }

  held(): readonly Held[] {
    const leases = [...this.leases.values()].toSorted((one, other) => compare(one.task, other.task));
    return leases.flatMap((lease) => {
      const task = this.records.task.get(lease.task);
      return task === undefined ? [] : [{ task: summary(task), lease }];
    });
  }

  openLandings(): readonly Landing[] {
    return this.list('landing').filter(({ state }) =>
      (openLandingStatuses as readonly string[]).includes(state.status),
    );
  }

  checksOf(tree: string): readonly Check[] {
    return this.list('check').filter((check) => check.tree === tree);
  }

  events({ after, limit, task, types }: EventQuery): readonly RecordedEvent[] {
    const wanted = this.log
      .slice(after)
      .filter((one) => types === undefined || types.includes(one.event.type))
      .filter((one) => task === undefined || this.#taskOfEvent(one.event) === task);
    return wanted.slice(0, limit);
  }

  eventPage(query: EventPageQuery): EventPage {
    const events = this.events({ ...query, limit: query.limit + 1 });
    return { events: events.slice(0, query.limit), hasMore: events.length > query.limit };
  }

  lastEvent(): EventNumber {
    return this.log.length as EventNumber;
  }

  wasUsed(id: string): boolean {
    return this.#used.has(id);
  }

  renewLease(task: TaskId, token: FencingToken, at: Timestamp): Renewal {
    const renewal = decideRenewal(this.leases.get(task), token, at, defaultPolicy.lease);
    if (renewal.kind === 'renewed') this.leases.set(task, renewal.lease);
    return renewal;
  }

  seeNode(id: NodeId, at: Timestamp): Timestamp {
    if (this.records.node.has(id)) this.#seen.set(id, at);
    return at;
  }

  silences(now: Timestamp): ReadonlyMap<NodeId, number> {
    return new Map([...this.#seen].map(([id, at]) => [id, now - at]));
  }

  nextReady({ at, agent, node }: ReadyQuery): Task | undefined {
    const met = metCapabilities(agent.capabilities);
    const able = [...this.records.task.values()].filter(
      (task) =>
        task.state.status === 'ready' &&
        notBefore(task) <= at &&
        (task.moveTo == null || task.moveTo.node === node) &&
        (task.agent === null || task.agent === agent.name) &&
        task.requires.every((capability) => met.includes(capability)),
    );
    return able.toSorted(byUrgency)[0];
  }

  /** Everything that the work records, or nothing of it. Returns what was recorded. */
  async transact<T>(
    work: (transaction: BoardTransaction) => Promise<T>,
  ): Promise<{ readonly value: T; readonly recorded: readonly RecordedEvent[] }> {
    const undo: (() => void)[] = [];
    const recorded: RecordedEvent[] = [];
    const found = new Map<string, Task | undefined>();
    try {
      const value = await work(this.#transaction(undo, recorded, found));
      this.log.push(...recorded);
      for (const { event } of recorded) this.#used.add(this.#taskOfEvent(event) ?? event.id);
      return { value, recorded };
    } catch (error) {
      for (const step of undo.toReversed()) step();
      throw error;
    }
  }

  /** Which task an event is about, also of records that are gone by now. */
  readonly #tasks = new Map<string, TaskId>();

  #taskOfEvent(event: BoardEvent): TaskId | null {
    const kind = kindOf(event);
    return kind === 'task' ? (event.id as TaskId) : (this.#tasks.get(event.id) ?? null);
  }

  #transaction(
    undo: (() => void)[],
    recorded: RecordedEvent[],
    found: Map<string, Task | undefined>,
  ): BoardTransaction {
    const record = async (by: Author, events: readonly BoardEvent[]): Promise<void> => {
      for (const event of events) {
        const kind = kindOf(event);
        const records = this.records[kind] as Map<string, AnyRecord>;
        const before = records.get(event.id);
        if (kind === 'task' && !found.has(event.id)) found.set(event.id, before as Task | undefined);
        const now = evolve(before, event);
        const task = taskOf(kind, now ?? before);
        if (by.kind === 'session')
          requireHeld(
            by,
            task,
            found.has(task ?? '') ? found.get(task ?? '') : this.records.task.get(task ?? ''),
          );
        if (task !== null) this.#tasks.set(event.id, task as TaskId);
        undo.push(() => (before === undefined ? records.delete(event.id) : records.set(event.id, before)));
        if (now === undefined) records.delete(event.id);
        else records.set(event.id, now);
        if (kind === 'task') this.#lease(event.id as TaskId, event, now as Task | undefined, undo);
        const number = (this.log.length + recorded.length + 1) as EventNumber;
        recorded.push({ number, by, event });
      }
    };
    return {
      get: async (kind, id) => this.get(kind, id),
      list: async (kind, where) => this.list(kind, where),
      some: async (kind, ids) => this.some(kind, ids),
      tasks: async (query) => this.tasks(query),
      idsStartingWith: async (kind, prefix, limit) => this.idsStartingWith(kind, prefix, limit),
      statuses: async (ids) => this.statuses(ids),
      dependants: async (id) => this.dependants(id),
      countByStatus: async () => this.countByStatus(),
      dependantGraph: async (from) => this.dependantGraph(from),
      dependsOnCancelled: async () => this.dependsOnCancelled(),
      dependencyGraph: async (from) => this.dependencyGraph(from),
      lease: async (task) => this.leases.get(task),
      held: async () => this.held(),
      openLandings: async () => this.openLandings(),
      checksOf: async (tree) => this.checksOf(tree),
      events: async (query) => this.events(query),
      eventPage: async (query) => this.eventPage(query),
      lastEvent: async () => this.lastEvent(),
      nextReady: async (query) => this.nextReady(query),
      lockDependencies: async () => {},
      lockSchedule: async () => {},
      useKey: () => Promise.reject(new Error('No simulated program takes keys')),
      wasUsed: async (id) => this.wasUsed(id),
      record,
    };
  }

  /** A lease exists exactly while a task is in progress. */
  #lease(id: TaskId, event: BoardEvent, now: Task | undefined, undo: (() => void)[]): void {
    const before = this.leases.get(id);
    undo.push(() => (before === undefined ? this.leases.delete(id) : this.leases.set(id, before)));
    if (now?.state.status !== 'in_progress') this.leases.delete(id);
    else {
      const until = grantedUntil(event);
      if (until === null) return;
      this.leases.set(id, { task: id, token: now.token, renewedAt: event.at, expiresAt: until });
    }
  }
}

/** The last door: whatever a session writes, it must have held the task when the transaction began. */
function requireHeld(
  { session, token }: Author & { kind: 'session' },
  id: string | null,
  task: Task | undefined,
): void {
  if (task?.state.status === 'in_progress' && task.state.claim.token === token) return;
  throw new Error(`Session ${session} with token ${token} does not hold ${id ?? 'any task'}`);
}

function grantedUntil(event: BoardEvent): Timestamp | null {
  switch (event.type) {
    case 'task.claimed':
    case 'task.resumed':
      return event.leaseUntil;
    case 'task.restarted':
    case 'task.handed_back':
      return event.grant?.leaseUntil ?? null;
    default:
      return null;
  }
}

function taskOf(kind: RecordKind, record: AnyRecord | undefined): string | null {
  if (record === undefined) return null;
  if (kind === 'task') return record.id;
  return 'task' in record ? record.task : null;
}

const CREATED = [
  'createdAt',
  'startedAt',
  'preparedAt',
  'queuedAt',
  'at',
  'joinedAt',
  'since',
  'lastFiredAt',
] as const;

function createdAt(record: AnyRecord): number {
  const fields = record as unknown as Readonly<Record<string, number | null | undefined>>;
  const name = CREATED.find((one) => one in fields);
  return (name === undefined ? null : fields[name]) ?? 0;
}

function notBefore({ state }: Task): number {
  return state.status === 'ready' && state.delay !== null ? state.delay.until : 0;
}

function byUrgency(one: Task, other: Task): number {
  return other.priority - one.priority || one.createdAt - other.createdAt || compare(one.id, other.id);
}

function byRecency(one: Task, other: Task): number {
  return other.updatedAt - one.updatedAt || compare(one.id, other.id);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function summary(task: Task): TaskSummary {
  const { body: _, ...rest } = task;
  return rest;
}
