/**
 * One transaction on the board.
 *
 * Order: read and lock the records; apply the events to them in memory; at the end write the changed records, then number
 * and append the events. The number comes from the single row of `board`, which is locked last (on PostgreSQL, in the one
 * statement that writes everything), so events are numbered in the order of commits. A query in between first writes the
 * pending changes.
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
import type { KeyedRequest } from '../rules/keyed-request.ts';
import type { Engine } from './engine.ts';
import { nextReadyStatement } from './next-ready.ts';
import { Reader } from './reader.ts';
import { fromRow, taskOf, toRow } from './rows.ts';
import { type Query, query } from './query.ts';
import { type Statements, askOf, run } from './statements.ts';
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
import type { WriteTransaction } from './schema.ts';

/** A record as this transaction found it and as it is now. */
interface TouchedRecord {
  readonly kind: RecordKind;
  readonly id: string;
  /** As it was when this transaction began; `before` is updated by every write. */
  readonly found: AnyRecord | undefined;
  before: AnyRecord | undefined;
  now: AnyRecord | undefined;
  /** The end of the lease of a claim made in this transaction. */
  lease: { readonly from: Timestamp; readonly until: Timestamp } | null;
}

export class Writer extends Reader implements BoardTransaction {
  readonly #transaction: WriteTransaction;
  readonly #engine: Engine;
  readonly #statements: Statements;
  readonly #touched = new Map<string, TouchedRecord>();
  readonly #events: EventRow[] = [];

  constructor(transaction: WriteTransaction, engine: Engine, statements: Statements) {
    super(askOf(transaction, engine.dialect), { locksRows: engine.locksRows });
    this.#transaction = transaction;
    this.#engine = engine;
    this.#statements = statements;
  }

  override async get<K extends RecordKind>(kind: K, id: string): Promise<Records[K] | undefined> {
    return (await this.#touch(kind, id)).now as Records[K] | undefined;
  }

  async nextReady(wanted: ReadyQuery): Promise<Task | undefined> {
    const { statement, values } = nextReadyStatement(this.#statements, wanted, this.locksRows);
    await this.#writePending();
    const [row] = await run<{ id: string; data: string; body: string }>(this.#transaction, statement, values);
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
    const [row] = await this.ask(
      query`select number from {events} where task = ${id} or (task is null and subject = ${id}) limit 1`,
    );
    return row !== undefined;
  }

  async useKey({ id, owner }: KeyedRequest): Promise<boolean> {
    const used = await this.#transaction
      .updateTable('answers')
      .set({ used: 1 })
      .where('id', '=', id)
      .where('owner', '=', owner)
      .returning('id')
      .executeTakeFirst();
    return used !== undefined;
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

  /** Called once, before the commit. Returns whether anything was recorded. */
  async flush(): Promise<boolean> {
    if (this.#events.length === 0) return false;
    await this.#engine.write(this.#transaction, this.#statements, this.#changes(), this.#events);
    return true;
  }

  /** Writes pending changes first, so that queries see them. (Events appear with the commit.) */
  protected override async ask<Row>(asked: Query): Promise<readonly Row[]> {
    await this.#writePending();
    return super.ask(asked);
  }

  async #writePending(): Promise<void> {
    for (const { key, build, values } of this.#changes()) {
      await run(this.#transaction, this.#statements.get(key, build), values);
    }
  }

  /** A session may add records that belong to no task while it holds its own task. */
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

  async #touch(kind: RecordKind, id: string): Promise<TouchedRecord> {
    const key = `${kind} ${id}`;
    const known = this.#touched.get(key);
    if (known) return known;
    const found = await super.get(kind, id);
    const touched: TouchedRecord = { kind, id, found, before: found, now: found, lease: null };
    this.#touched.set(key, touched);
    return touched;
  }

  /** The pending writes; the records count as unchanged afterwards. */
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

/** Rows of dependencies and requirements, and the lease, which exists exactly while a task is in progress. */
function taskExtras({ id, before, now, lease }: TouchedRecord): readonly Write[] {
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
