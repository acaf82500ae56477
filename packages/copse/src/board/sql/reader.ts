/** Reading the board. The same queries serve plain reads and transactions; in the latter, rows are locked. */

import { sql } from 'kysely';

import type { Check } from '../../queue/rules/check.ts';
import type { Lease } from '../../tasks/rules/claim.ts';
import type { Author, BoardEvent, RecordKind, RecordedEvent, Records } from '../rules/event.ts';
import type { EventNumber, FencingToken, TaskId, Timestamp } from '../../kernel/ids.ts';
import { type TaskStatus, type TaskSummary, isFinished } from '../../tasks/rules/task.ts';
import { type Landing, openLandingStatuses } from '../../queue/rules/landing.ts';
import type { BoardReader, EventQuery, Held, TaskQuery } from '../port.ts';
import { fromRow, summariesFromRows, workItemKey } from './rows.ts';
import { type BoardTables, tableOf, type Queries } from './schema.ts';

type Dated = Pick<BoardTables['ledger'], 'id' | 'created_at'>;

export class Reader implements BoardReader {
  protected readonly db: Queries;
  protected readonly locksRows: boolean;

  constructor(db: Queries, options: { readonly locksRows: boolean }) {
    this.db = db;
    this.locksRows = options.locksRows;
  }

  /** For queries over several records. */
  protected queries(): Promise<Queries> {
    return Promise.resolve(this.db);
  }

  async get<K extends RecordKind>(kind: K, id: string): Promise<Records[K] | undefined> {
    const row =
      kind === 'task'
        ? await this.db
            .selectFrom('tasks')
            .select(['data', 'body'])
            .where('id', '=', id)
            .$if(this.locksRows, (query) => query.forUpdate())
            .executeTakeFirst()
        : await this.db
            .selectFrom(tableOf[kind] as 'plans')
            .select('data')
            .where('id', '=', id)
            .$if(this.locksRows, (query) => query.forUpdate())
            .executeTakeFirst();
    return row && fromRow(kind, row);
  }

  async list<K extends Exclude<RecordKind, 'task'>>(
    kind: K,
    where?: { readonly task: TaskId },
  ): Promise<readonly Records[K][]> {
    const rows = await (
      await this.queries()
    )
      .selectFrom(tableOf[kind] as 'ledger')
      .select(['id', 'created_at', 'data'])
      .$if(where !== undefined, (query) => query.where('task', '=', where?.task ?? ''))
      .orderBy('created_at')
      .orderBy('id')
      .execute();
    const ordered = where === undefined ? rows : await this.#inOrderOfEvents(where.task, rows);
    return ordered.map((row) => fromRow(kind, row));
  }

  /** Records of the same millisecond are ordered by their first events. */
  async #inOrderOfEvents<R extends Dated>(task: TaskId, rows: readonly R[]): Promise<readonly R[]> {
    const times = Map.groupBy(rows, (row) => row.created_at);
    const tied = [...times.values()].filter(({ length }) => length > 1).flatMap((same) => same);
    if (tied.length === 0) return rows;
    const known = await (
      await this.queries()
    )
      .selectFrom('events')
      .select(({ fn }) => ['subject', fn.min('number').as('first')])
      .where('task', '=', task)
      .where(
        'subject',
        'in',
        tied.map(({ id }) => id),
      )
      .groupBy('subject')
      .execute();
    const first = new Map(known.map((one) => [one.subject, one.first]));
    const placeOf = ({ id }: Dated) => first.get(id) ?? Number.MAX_SAFE_INTEGER;
    return rows.toSorted((a, b) => a.created_at - b.created_at || placeOf(a) - placeOf(b));
  }

  async tasks(query: TaskQuery): Promise<readonly TaskSummary[]> {
    let rows = (await this.queries()).selectFrom('tasks');
    if (query.statuses) rows = rows.where('status', 'in', query.statuses);
    if (query.plan) rows = rows.where('plan', '=', query.plan);
    if (query.agent) rows = rows.where('agent', '=', query.agent);
    if (query.workItem) rows = rows.where('work_item', '=', workItemKey(query.workItem));
    // A literal, not a parameter: otherwise SQLite does not use the partial index.
    const areLive = query.statuses?.every((status) => !isFinished(status)) ? false : undefined;
    const finished = query.finished ?? areLive;
    if (finished !== undefined) rows = rows.where('finished', '=', sql.lit(finished ? 1 : 0));
    if (query.due !== undefined) rows = rows.where('not_before', '<=', query.due);
    if (query.delayedAt !== undefined) rows = rows.where('not_before', '>', query.delayedAt);
    const order = query.order === 'urgent' ? sql`priority desc, created_at, id` : sql`updated_at desc, id`;
    if (query.limit === undefined && query.offset === undefined) {
      // As one text: an object for each row costs more than to read them all.
      const all = sql<string | null>`string_agg(data, ',' order by ${order})`.as('all');
      const { all: data } = await rows.select(all).executeTakeFirstOrThrow();
      return summariesFromRows(data === null ? [] : [{ data }]);
    }
    const some = rows
      .select('data')
      .orderBy(order)
      .$if(query.limit !== undefined, (chosen) => chosen.limit(query.limit ?? 0))
      .$if(query.offset !== undefined, (chosen) => chosen.offset(query.offset ?? 0));
    return summariesFromRows(await some.execute());
  }

  async idsStartingWith(kind: 'task' | 'plan', prefix: string, limit: number): Promise<readonly string[]> {
    const rows = await (
      await this.queries()
    )
      .selectFrom(tableOf[kind])
      .select('id')
      .where('id', '>=', prefix)
      .where('id', '<', `${prefix}\u{10ffff}`)
      .orderBy('id')
      .limit(limit)
      .execute();
    return rows.map((row) => row.id);
  }

  async statuses(ids: readonly TaskId[]): Promise<ReadonlyMap<TaskId, TaskStatus>> {
    if (ids.length === 0) return new Map();
    const rows = await (
      await this.queries()
    )
      .selectFrom('tasks')
      .select(['id', 'status'])
      .where('id', 'in', ids)
      .orderBy('id')
      .$if(this.locksRows, (query) => query.forShare())
      .execute();
    return new Map(rows.map((row) => [row.id as TaskId, row.status as TaskStatus]));
  }

  async dependants(id: TaskId): Promise<readonly TaskId[]> {
    const rows = await (
      await this.queries()
    )
      .selectFrom('dependencies')
      .select('task')
      .where('depends_on', '=', id)
      .orderBy('task')
      .execute();
    return rows.map((row) => row.task as TaskId);
  }

  async dependencyGraph(from: readonly TaskId[]): Promise<ReadonlyMap<TaskId, readonly TaskId[]>> {
    const graph = new Map<TaskId, TaskId[]>();
    if (from.length === 0) return graph;
    const edges = await (
      await this.queries()
    )
      .withRecursive('reached', (db) =>
        db
          .selectFrom('dependencies')
          .select(['task', 'depends_on'])
          .where('task', 'in', from)
          .union(
            db
              .selectFrom('dependencies')
              .innerJoin('reached', 'reached.depends_on', 'dependencies.task')
              .select(['dependencies.task', 'dependencies.depends_on']),
          ),
      )
      .selectFrom('reached')
      .select(['task', 'depends_on'])
      .execute();
    for (const { task, depends_on } of edges) {
      const dependencies = graph.get(task as TaskId) ?? [];
      dependencies.push(depends_on as TaskId);
      graph.set(task as TaskId, dependencies);
    }
    return graph;
  }

  async lease(task: TaskId): Promise<Lease | undefined> {
    const row = await (
      await this.queries()
    )
      .selectFrom('leases')
      .selectAll()
      .where('task', '=', task)
      .executeTakeFirst();
    return row && leaseFromRow(row);
  }

  async held(): Promise<readonly Held[]> {
    const rows = await (
      await this.queries()
    )
      .selectFrom('leases')
      .innerJoin('tasks', 'tasks.id', 'leases.task')
      .select(['leases.task', 'leases.token', 'leases.renewed_at', 'leases.expires_at', 'tasks.data'])
      .orderBy('leases.task')
      .execute();
    const tasks = summariesFromRows(rows);
    return rows.flatMap((row, index) => {
      const task = tasks[index];
      return task === undefined ? [] : [{ task, lease: leaseFromRow(row) }];
    });
  }

  async openLandings(): Promise<readonly Landing[]> {
    const rows = await (
      await this.queries()
    )
      .selectFrom('landings')
      .select('data')
      .where('status', 'in', openLandingStatuses)
      .orderBy('created_at')
      .orderBy('id')
      .execute();
    return rows.map((row) => fromRow('landing', row));
  }

  async checksOf(tree: string): Promise<readonly Check[]> {
    const rows = await (
      await this.queries()
    )
      .selectFrom('checks')
      .select('data')
      .where('tree', '=', tree)
      .orderBy('created_at')
      .orderBy('id')
      .execute();
    return rows.map((row) => fromRow('check', row));
  }

  async expiredLeases(at: Timestamp): Promise<readonly Lease[]> {
    const rows = await (
      await this.queries()
    )
      .selectFrom('leases')
      .selectAll()
      .where('expires_at', '<=', at)
      .orderBy('expires_at')
      .execute();
    return rows.map(leaseFromRow);
  }

  async events({ after, limit, task, types }: EventQuery): Promise<readonly RecordedEvent[]> {
    // PostgreSQL does not accept an empty list.
    if (types?.length === 0) return [];
    const rows = await (
      await this.queries()
    )
      .selectFrom('events')
      .select(['number', 'data'])
      .where('number', '>', after)
      .$if(task !== undefined, (query) => query.where('task', '=', task ?? ''))
      .$if(types !== undefined, (query) => query.where('type', 'in', types ?? []))
      .orderBy('number')
      .limit(limit)
      .execute();
    return rows.map(eventFromRow);
  }

  async lastEvent(): Promise<EventNumber> {
    const row = await (
      await this.queries()
    )
      .selectFrom('board')
      .select('last_event')
      .executeTakeFirstOrThrow();
    return row.last_event as EventNumber;
  }
}

export function leaseFromRow(row: BoardTables['leases']): Lease {
  return {
    task: row.task as TaskId,
    token: row.token as FencingToken,
    renewedAt: row.renewed_at as Timestamp,
    expiresAt: row.expires_at as Timestamp,
  };
}

export function eventFromRow(row: { number: number; data: string }): RecordedEvent {
  const { by, event } = JSON.parse(row.data) as { by: Author; event: BoardEvent };
  return { number: row.number as EventNumber, by, event };
}
