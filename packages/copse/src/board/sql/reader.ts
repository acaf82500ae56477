/** Reading the board. The same queries serve plain reads and transactions; in the latter, rows are locked. */

import type { Check } from '../../queue/rules/check.ts';
import type { Lease } from '../../tasks/rules/claim.ts';
import type { Author, BoardEvent, RecordKind, RecordedEvent, Records } from '../rules/event.ts';
import type { EventNumber, FencingToken, TaskId, Timestamp } from '../../kernel/ids.ts';
import { type TaskStatus, type TaskSummary, isFinished } from '../../tasks/rules/task.ts';
import { type Landing, openLandingStatuses } from '../../queue/rules/landing.ts';
import type { BoardReader, EventPage, EventPageQuery, EventQuery, Held, TaskQuery } from '../port.ts';
import { type RunQuery, type Query, query, where } from './query.ts';
import { fromRow, summariesFromRows, workItemKey } from './rows.ts';
import { type BoardTables, tableOf } from './schema.ts';

type Dated = Pick<BoardTables['ledger'], 'id' | 'created_at'>;
type Stored = Pick<BoardTables['ledger'], 'data'>;

/** Engines limit the number of values of a statement. */
const IDS_AT_ONCE = 1_000;

export class Reader implements BoardReader {
  readonly #ask: RunQuery;
  protected readonly locksRows: boolean;

  constructor(ask: RunQuery, options: { readonly locksRows: boolean }) {
    this.#ask = ask;
    this.locksRows = options.locksRows;
  }

  /** For queries over several records. */
  protected async ask<Row>(asked: Query): Promise<readonly Row[]> {
    return this.#ask(asked);
  }

  async get<K extends RecordKind>(kind: K, id: string): Promise<Records[K] | undefined> {
    const columns = kind === 'task' ? query`data, body` : query`data`;
    const lock = this.locksRows ? query`for update` : query``;
    const [row] = await this.#ask<Stored & { body: string }>(
      query`select ${columns} from ${table(kind)} where id = ${id} ${lock}`,
    );
    return row && fromRow(kind, row);
  }

  async list<K extends Exclude<RecordKind, 'task'>>(
    kind: K,
    of?: { readonly task: TaskId },
  ): Promise<readonly Records[K][]> {
    const condition = where(of === undefined ? null : query`task = ${of.task}`);
    const rows = await this.ask<Dated & Stored>(
      query`select id, created_at, data from ${table(kind)} ${condition} order by created_at, id`,
    );
    const ordered = of === undefined ? rows : await this.#inOrderOfEvents(of.task, rows);
    return ordered.map((row) => fromRow(kind, row));
  }

  async some<K extends Exclude<RecordKind, 'task'>>(
    kind: K,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, Records[K]>> {
    const found = new Map<string, Records[K]>();
    for (let from = 0; from < ids.length; from += IDS_AT_ONCE) {
      const some = ids.slice(from, from + IDS_AT_ONCE);
      const rows = await this.ask<Pick<Dated, 'id'> & Stored>(
        query`select id, data from ${table(kind)} where id in (${some})`,
      );
      for (const row of rows) found.set(row.id, fromRow(kind, row));
    }
    return found;
  }

  /** Records of the same millisecond are ordered by their first events. */
  async #inOrderOfEvents<R extends Dated>(task: TaskId, rows: readonly R[]): Promise<readonly R[]> {
    const times = Map.groupBy(rows, (row) => row.created_at);
    const tied = [...times.values()].filter(({ length }) => length > 1).flatMap((same) => same);
    if (tied.length === 0) return rows;
    const ids = tied.map(({ id }) => id);
    const known = await this.ask<{ subject: string; first: number }>(
      query`select subject, min(number) as first from {events} where task = ${task} and subject in (${ids}) group by subject`,
    );
    const first = new Map(known.map((one) => [one.subject, one.first]));
    const placeOf = ({ id }: Dated) => first.get(id) ?? Number.MAX_SAFE_INTEGER;
    return rows.toSorted((a, b) => a.created_at - b.created_at || placeOf(a) - placeOf(b));
  }

  async tasks(asked: TaskQuery): Promise<readonly TaskSummary[]> {
    const { statuses, plan, agent, workItem, job, due, delayedAt, limit, offset = 0 } = asked;
    // Neither engine accepts an empty list everywhere.
    if (statuses?.length === 0) return [];
    const areLive = statuses?.every((status) => !isFinished(status)) ? false : undefined;
    const condition = where(
      statuses ? query`status in (${statuses})` : null,
      plan ? query`plan = ${plan}` : null,
      agent ? query`agent = ${agent}` : null,
      workItem ? query`work_item = ${workItemKey(workItem)}` : null,
      job === undefined ? null : job === 'any' ? query`job is not null` : query`job = ${job}`,
      finishedIs(asked.finished ?? areLive),
      due === undefined ? null : query`not_before <= ${due}`,
      delayedAt === undefined ? null : query`not_before > ${delayedAt}`,
    );
    const order =
      asked.order === 'urgent' ? query`priority desc, created_at, id` : query`updated_at desc, id`;
    if (limit === undefined) {
      // As one text: an object for each row costs more than to read them all. Both engines keep the order of a
      // subquery here; to sort inside of the aggregate, SQLite copies every row.
      const sorted = query`select data from {tasks} ${condition} order by ${order}`;
      const [row] = await this.ask<{ data: string | null }>(
        query`select string_agg(data, ',') as data from (${sorted}) as sorted`,
      );
      return summariesFromRows(row?.data == null ? [] : [{ data: row.data }]);
    }
    const part = query`limit ${limit} offset ${offset}`;
    return summariesFromRows(
      await this.ask<Stored>(query`select data from {tasks} ${condition} order by ${order} ${part}`),
    );
  }

  async idsStartingWith(
    kind: 'task' | 'plan' | 'artifact',
    prefix: string,
    limit: number,
  ): Promise<readonly string[]> {
    const rows = await this.ask<{ id: string }>(
      query`select id from ${table(kind)} where id >= ${prefix} and id < ${`${prefix}\u{10ffff}`} order by id limit ${limit}`,
    );
    return rows.map((row) => row.id);
  }

  async statuses(ids: readonly TaskId[]): Promise<ReadonlyMap<TaskId, TaskStatus>> {
    if (ids.length === 0) return new Map();
    const lock = this.locksRows ? query`for share` : query``;
    const rows = await this.ask<{ id: TaskId; status: TaskStatus }>(
      query`select id, status from {tasks} where id in (${ids}) order by id ${lock}`,
    );
    return new Map(rows.map((row) => [row.id, row.status]));
  }

  async countByStatus(): Promise<ReadonlyMap<TaskStatus, number>> {
    const rows = await this.ask<{ status: TaskStatus; count: number | string }>(
      query`select status, count(*) as count from {tasks} group by status`,
    );
    return new Map(rows.map(({ status, count }) => [status, Number(count)]));
  }

  async dependants(id: TaskId): Promise<readonly TaskId[]> {
    const rows = await this.ask<{ task: TaskId }>(
      query`select task from {dependencies} where depends_on = ${id} order by task`,
    );
    return rows.map((row) => row.task);
  }

  async dependencyGraph(from: readonly TaskId[]): Promise<ReadonlyMap<TaskId, readonly TaskId[]>> {
    if (from.length === 0) return new Map();
    const edges = await this.ask<Edge>(
      query`with recursive reached as (
          select task, depends_on from {dependencies} where task in (${from})
          union
          select dependencies.task, dependencies.depends_on
          from {dependencies} as dependencies join reached on reached.depends_on = dependencies.task
        ) select task, depends_on from reached`,
    );
    return grouped(edges.map(({ task, depends_on }) => [task, depends_on]));
  }

  async dependantGraph(from: readonly TaskId[]): Promise<ReadonlyMap<TaskId, readonly TaskId[]>> {
    if (from.length === 0) return new Map();
    const edges = await this.ask<Edge>(
      query`with recursive live as (
          select dependencies.task, dependencies.depends_on
          from {dependencies} as dependencies join {tasks} as tasks on tasks.id = dependencies.task
          where tasks.finished = 0
        ), reached as (
          select task, depends_on from live where depends_on in (${from})
          union
          select live.task, live.depends_on from live join reached on reached.task = live.depends_on
        ) select task, depends_on from reached order by depends_on, task`,
    );
    return grouped(edges.map(({ task, depends_on }) => [depends_on, task]));
  }

  async dependsOnCancelled(): Promise<ReadonlyMap<TaskId, readonly TaskId[]>> {
    const edges = await this.ask<Edge>(
      query`select dependencies.task, dependencies.depends_on
        from {dependencies} as dependencies
        join {tasks} as tasks on tasks.id = dependencies.task
        join {tasks} as ended on ended.id = dependencies.depends_on
        where tasks.finished = 0 and ended.status = ${'cancelled'}
        order by dependencies.task, dependencies.depends_on`,
    );
    return grouped(edges.map(({ task, depends_on }) => [task, depends_on]));
  }

  async lease(task: TaskId): Promise<Lease | undefined> {
    const [row] = await this.ask<BoardTables['leases']>(query`select * from {leases} where task = ${task}`);
    return row && leaseFromRow(row);
  }

  async held(): Promise<readonly Held[]> {
    const rows = await this.ask<BoardTables['leases'] & Stored>(
      query`select leases.*, tasks.data from {leases} as leases join {tasks} as tasks on tasks.id = leases.task order by leases.task`,
    );
    const tasks = summariesFromRows(rows);
    return rows.flatMap((row, index) => {
      const task = tasks[index];
      return task === undefined ? [] : [{ task, lease: leaseFromRow(row) }];
    });
  }

  async openLandings(): Promise<readonly Landing[]> {
    const rows = await this.ask<Stored>(
      query`select data from {landings} where status in (${openLandingStatuses}) order by created_at, id`,
    );
    return rows.map((row) => fromRow('landing', row));
  }

  async checksOf(tree: string): Promise<readonly Check[]> {
    const rows = await this.ask<Stored>(
      query`select data from {checks} where tree = ${tree} order by created_at, id`,
    );
    return rows.map((row) => fromRow('check', row));
  }

  async events({ limit, ...asked }: EventQuery): Promise<readonly RecordedEvent[]> {
    // PostgreSQL does not accept an empty list.
    if (asked.types?.length === 0) return [];
    const condition = eventsAre(asked);
    const rows = await this.ask<EventText>(
      query`select number, data from {events} ${condition} order by number limit ${limit}`,
    );
    return rows.map(eventFromRow);
  }

  async eventPage({ limit, mostBytes, ...asked }: EventPageQuery): Promise<EventPage> {
    if (asked.types?.length === 0) return { events: [], hasMore: false };
    // Sizes first: neither engine reads a long text to tell its length.
    const found = query`select number, octet_length(data) as bytes from {events} ${eventsAre(asked)} order by number limit ${limit + 1}`;
    const sized = query`select number, sum(bytes) over (order by number) - bytes as before, max(number) over () as final from (${found}) as found`;
    const rows = await this.ask<EventText & { final: number }>(
      query`select events.number, events.data, sized.final from (${sized}) as sized join {events} as events on events.number = sized.number where sized.before < ${mostBytes} order by events.number limit ${limit}`,
    );
    const last = rows.at(-1);
    return { events: rows.map(eventFromRow), hasMore: last !== undefined && last.number < last.final };
  }

  async lastEvent(): Promise<EventNumber> {
    const [row] = await this.ask<{ last_event: EventNumber }>(query`select last_event from {board}`);
    if (row === undefined) throw new Error('The board has no row of its own');
    return row.last_event;
  }
}

interface Edge {
  readonly task: TaskId;
  readonly depends_on: TaskId;
}

function grouped(pairs: readonly (readonly [TaskId, TaskId])[]): ReadonlyMap<TaskId, readonly TaskId[]> {
  const groups = new Map<TaskId, TaskId[]>();
  for (const [from, to] of pairs) {
    const group = groups.get(from) ?? [];
    group.push(to);
    groups.set(from, group);
  }
  return groups;
}

/** Names come from the schema, never from outside. */
function table(kind: RecordKind): Query {
  return { texts: [`{${tableOf[kind]}}`], values: [] };
}

/** A literal, not a parameter: otherwise SQLite does not use the partial index. */
function finishedIs(finished: boolean | undefined): Query | null {
  if (finished === undefined) return null;
  return finished ? query`finished = 1` : query`finished = 0`;
}

export function leaseFromRow(row: BoardTables['leases']): Lease {
  return {
    task: row.task as TaskId,
    token: row.token as FencingToken,
    renewedAt: row.renewed_at as Timestamp,
    expiresAt: row.expires_at as Timestamp,
  };
}

type EventText = Pick<BoardTables['events'], 'number' | 'data'>;

function eventsAre({ after, task, types }: Omit<EventQuery, 'limit'>): Query {
  return where(
    query`number > ${after}`,
    task === undefined ? null : query`task = ${task}`,
    types === undefined ? null : query`type in (${types})`,
  );
}

export function eventFromRow(row: EventText): RecordedEvent {
  const { by, event } = JSON.parse(row.data) as { by: Author; event: BoardEvent };
  return { number: row.number as EventNumber, by, event };
}
