/**
 * One transaction on the board.
 *
 * Order within it: read and lock the records; keep what the events make of them in memory; at the very end write
 * the records that changed, then number and append the events. The number comes from the single row of `board`,
 * which is locked last or, on PostgreSQL, in the one statement that writes everything: every record that exists was
 * locked before it, and events get their numbers in the order of commits. Whoever asks a question in between gets
 * the changes written first.
 */

import {
  type Author,
  type AnyRecord,
  type BoardEvent,
  type RecordKind,
  type Records,
  evolve,
  kindOf,
} from '../rules/event.ts';
import type { Timestamp } from '../../kernel/ids.ts';
import type { Session } from '../../agents/rules/session/session.ts';
import type { Task } from '../../tasks/rules/task.ts';
import type { BoardTransaction, ReadyQuery } from '../port.ts';
import type { Engine } from './engine.ts';
import { nextReadyStatement } from './next-ready.ts';
import { Reader } from './reader.ts';
import { fromRow, taskOf, toRow } from './rows.ts';
import { type Statements, run } from './statements.ts';
import {
  type EventRow,
  type Write,
  deleteRecord,
  deleteRow,
  dropLease,
  insertRecord,
  insertRow,
  setLease,
  updateRecord,
} from './writes.ts';
import type { Queries, WriteTransaction } from './schema.ts';

/** A record as this transaction found it and as it is now. */
interface Touched {
  readonly kind: RecordKind;
  readonly id: string;
  /** As it was when this transaction began; `before` moves on with what is written. */
  readonly found: AnyRecord | undefined;
  before: AnyRecord | undefined;
  now: AnyRecord | undefined;
  /** Until when a claim made in this transaction is believed. */
  lease: { readonly from: Timestamp; readonly until: Timestamp } | null;
}

export class Writer extends Reader implements BoardTransaction {
  readonly #transaction: WriteTransaction;
  readonly #engine: Engine;
  readonly #statements: Statements;
  readonly #touched = new Map<string, Touched>();
  readonly #events: EventRow[] = [];

  constructor(transaction: WriteTransaction, engine: Engine, statements: Statements) {
    super(transaction, { locksRows: engine.locksRows });
    this.#transaction = transaction;
    this.#engine = engine;
    this.#statements = statements;
  }

  override async get<K extends RecordKind>(kind: K, id: string): Promise<Records[K] | undefined> {
    return (await this.#touch(kind, id)).now as Records[K] | undefined;
  }

  async nextReady(query: ReadyQuery): Promise<Task | undefined> {
    const { statement, values } = nextReadyStatement(this.#statements, query, this.locksRows);
    const db = await this.queries();
    const [row] = await run<{ id: string; data: string; body: string }>(db, statement, values);
    if (row === undefined) return undefined;
    const task = fromRow('task', row);
    this.#touched.set(`task ${row.id}`, {
      kind: 'task',
      id: row.id,
      found: task,
      before: task,
      now: task,
      lease: null,
    });
    return task;
  }

  async lockDependencies(): Promise<void> {
    await this.#engine.lock(this.#transaction, 'dependencies');
  }

  async lockSchedule(): Promise<void> {
    await this.#engine.lock(this.#transaction, 'schedule');
  }

  async wasUsed(id: string): Promise<boolean> {
    const db = await this.queries();
    const row = await db
      .selectFrom('events')
      .select('number')
      .where((event) =>
        event.or([event('task', '=', id), event.and([event('task', 'is', null), event('subject', '=', id)])]),
      )
      .limit(1)
      .executeTakeFirst();
    return row !== undefined;
  }

  async record(by: Author, events: readonly BoardEvent[]): Promise<void> {
    for (const event of events) {
      const kind = kindOf(event);
      const touched = await this.#touch(kind, event.id);
      const about = touched.now;
      touched.now = evolve(about, event);
      const task = taskOf(kind, touched.now ?? about);
      if (by.kind === 'session') {
        await this.#requireHeld(by, event.type === 'task.created' ? await this.#taskOf(by.session) : task);
      }
      const until = grantedUntil(event);
      if (until !== null) touched.lease = { from: event.at, until };
      this.#events.push({
        at: event.at,
        type: event.type,
        subject: event.id,
        task,
        data: JSON.stringify({ by, event }),
      });
    }
  }

  /** Called once, when the work is done and before the commit. Says whether anything was recorded. */
  async flush(): Promise<boolean> {
    if (this.#events.length === 0) return false;
    await this.#engine.write(this.#transaction, this.#statements, this.#changes(), this.#events);
    return true;
  }

  /** A question that SQL has to answer must find the records as they are now. (Events appear with the commit.) */
  protected override async queries(): Promise<Queries> {
    for (const { key, build, values } of this.#changes()) {
      await run(this.db, this.#statements.get(key, build), values);
    }
    return this.db;
  }

  /** What a session adds is nobody's yet; it may do so while it holds its own. */
  async #taskOf(session: string): Promise<string | null> {
    return ((await this.#touch('session', session)).found as Session | undefined)?.task ?? null;
  }

  /**
   * The last door: whatever a session writes, it must have held the task when the transaction began. The token alone would
   * not do: every task counts its own.
   */
  async #requireHeld({ session, token }: Author & { kind: 'session' }, id: string | null): Promise<void> {
    const task = id === null ? undefined : ((await this.#touch('task', id)).found as Task | undefined);
    const claim = task?.state.status === 'in_progress' ? task.state.claim : undefined;
    if (claim?.session === session && claim.token === token) return;
    throw new Error(`Session ${session} with token ${token} does not hold ${id ?? 'any task'}`);
  }

  async #touch(kind: RecordKind, id: string): Promise<Touched> {
    const key = `${kind} ${id}`;
    const known = this.#touched.get(key);
    if (known) return known;
    const found = await super.get(kind, id);
    const touched: Touched = { kind, id, found, before: found, now: found, lease: null };
    this.#touched.set(key, touched);
    return touched;
  }

  /** What has to be written for the records to be as they are now. From then on, this is how they were found. */
  #changes(): readonly Write[] {
    const writes: Write[] = [];
    for (const touched of this.#touched.values()) {
      const { kind, id, before, now } = touched;
      if (before === now) continue;
      if (now === undefined) writes.push(deleteRecord(kind, id));
      else if (before === undefined) writes.push(insertRecord(kind, rowOf(kind, now)));
      else writes.push(...updateRecord(kind, rowOf(kind, before), rowOf(kind, now)));
      if (kind === 'task') writes.push(...taskExtras(touched));
      touched.before = now;
      touched.lease = null;
    }
    return writes;
  }
}

function rowOf(
  kind: RecordKind,
  record: AnyRecord,
): Readonly<Record<string, unknown>> & { readonly id: string } {
  return toRow(kind, record as never);
}

/** Dependencies and requirements are rows of their own; a lease exists exactly while a task is in progress. */
function taskExtras({ id, before, now, lease }: Touched): readonly Write[] {
  const [was, is] = [before as Task | undefined, now as Task | undefined];
  const isHeld = is?.state.status === 'in_progress';
  return [
    ...difference(was?.dependsOn, is?.dependsOn, (depends_on) => ['dependencies', { task: id, depends_on }]),
    ...difference(was?.requires, is?.requires, (capability) => ['requirements', { task: id, capability }]),
    ...(isHeld && lease
      ? [setLease({ task: id, token: is.token, renewed_at: lease.from, expires_at: lease.until })]
      : []),
    ...(!isHeld && was?.state.status === 'in_progress' ? [dropLease(id)] : []),
  ];
}

function difference(
  was: readonly string[] = [],
  is: readonly string[] = [],
  rowFor: (value: string) => Parameters<typeof insertRow>,
): readonly Write[] {
  if (was === is) return [];
  return [
    ...was.filter((value) => !is.includes(value)).map((value) => deleteRow(...rowFor(value))),
    ...is.filter((value) => !was.includes(value)).map((value) => insertRow(...rowFor(value))),
  ];
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
