/**
 * The writes at the end of a transaction, and two ways to run them: one statement after another, or all as one statement,
 * where each would be a round trip.
 */

import { type Compilable, type Insertable, sql } from 'kysely';

import { migrations } from '../migrations/index.ts';
import type { RecordKind } from '../rules/event.ts';
import { type BoardTables, tableOf, type Queries } from './schema.ts';
import { type Marker, type Statement, type Statements, type Values, run } from './statements.ts';

export interface Write {
  readonly key: string;
  readonly build: (db: Queries, value: Marker) => Compilable;
  readonly values: Values;
}

export type EventRow = Omit<Insertable<BoardTables['events']>, 'number'>;

type AnyRow = Readonly<Record<string, unknown>> & { readonly id: string };

export function insertRecord(kind: RecordKind, row: AnyRow): Write {
  const columns = Object.keys(row);
  return {
    key: `insert ${kind}`,
    build: (db, value) => db.insertInto(tableOf[kind] as 'plans').values(marked(columns, value)),
    values: row,
  };
}

/** Names only changed columns, because naming an indexed column rewrites its index. */
export function updateRecord(kind: RecordKind, before: AnyRow, after: AnyRow): readonly Write[] {
  const columns = Object.keys(after).filter((column) => after[column] !== before[column]);
  if (columns.length === 0) return [];
  const update: Write = {
    key: `update ${kind} ${columns.join()}`,
    build: (db, value) =>
      db
        .updateTable(tableOf[kind] as 'plans')
        .set(marked(columns, value))
        .where('id', '=', value('id')),
    values: after,
  };
  return [update];
}

export function deleteRecord(kind: RecordKind, id: string): Write {
  return {
    key: `delete ${kind}`,
    build: (db, value) => db.deleteFrom(tableOf[kind] as 'plans').where('id', '=', value('id')),
    values: { id },
  };
}

export function insertRow(table: 'dependencies' | 'requirements', row: Values): Write {
  return {
    key: `insert ${table}`,
    build: (db, value) => db.insertInto(table).values(marked(Object.keys(row), value)),
    values: row,
  };
}

export function deleteRow(table: 'dependencies' | 'requirements', row: Values): Write {
  return {
    key: `delete ${table}`,
    build: (db, value) =>
      Object.keys(row).reduce(
        (query, column) => query.where(sql.ref(column), '=', value(column)),
        db.deleteFrom(table),
      ),
    values: row,
  };
}

/** A new claim replaces the lease of the one before. */
export function setLease(row: BoardTables['leases']): Write {
  return {
    key: 'set lease',
    build: (db, value) =>
      db
        .insertInto('leases')
        .values(marked(Object.keys(row), value))
        .onConflict((conflict) =>
          conflict.column('task').doUpdateSet((eb) => ({
            token: eb.ref('excluded.token'),
            renewed_at: eb.ref('excluded.renewed_at'),
            expires_at: eb.ref('excluded.expires_at'),
          })),
        ),
    values: { ...row },
  };
}

export function dropLease(task: string): Write {
  return {
    key: 'drop lease',
    build: (db, value) => db.deleteFrom('leases').where('task', '=', value('task')),
    values: { task },
  };
}

function marked(columns: readonly string[], value: Marker): never {
  return Object.fromEntries(columns.map((column) => [column, value(column)])) as never;
}

/**
 * Raises the last event number by the number of new events. On a board of another version the number would be null, which
 * the column refuses: a process of an older Copse that still has the board open changes nothing on it. The same on a server
 * that is not the one of the current term.
 */
export function bumpStatement(statements: Statements): Statement {
  return statements.get('number events', (db, value) =>
    db
      .updateTable('board')
      .set({
        last_event: sql<number>`case when version = ${sql.lit(migrations.length)} and ${statements.isCurrent} then last_event + ${value('count')} end`,
      })
      .returning('last_event'),
  );
}

export function insertEventStatement(statements: Statements): Statement {
  return statements.get('insert event', (db, value) =>
    db.insertInto('events').values(marked(EVENT_COLUMNS, value)),
  );
}

async function writeOneByOne(
  db: Queries,
  statements: Statements,
  writes: readonly Write[],
  events: readonly EventRow[],
): Promise<void> {
  for (const { key, build, values } of writes) await run(db, statements.get(key, build), values);
  const count = events.length;
  const [bumped] = await run<{ last_event: number }>(db, bumpStatement(statements), { count });
  const first = (bumped?.last_event ?? 0) - count + 1;
  const insert = insertEventStatement(statements);
  for (const [index, event] of events.entries()) await run(db, insert, { ...event, number: first + index });
}

/** Larger transactions would make statements too long to cache. */
const TOGETHER = 16;

/**
 * One statement: `with w0 as (…), w1 as (…), numbered as (update board …), e0 as (insert into events …) select …`.
 * PostgreSQL runs every part of it to its end, on the same snapshot; no two parts touch the same row.
 */
export async function writeTogether(
  db: Queries,
  statements: Statements,
  writes: readonly Write[],
  events: readonly EventRow[],
  channel: string,
): Promise<void> {
  if (writes.length + events.length > TOGETHER) {
    await writeOneByOne(db, statements, writes, events);
    await sql`select pg_notify(${channel}, '')`.execute(db);
    return;
  }
  const key = `${writes.map((write) => write.key).join(' | ')} + ${events.length}`;
  const together = statements.find(key) ?? statements.keep(key, combine(statements, writes, events.length));
  const values: Record<string, unknown> = { 'b.count': events.length, channel };
  for (const [index, write] of writes.entries()) prefix(values, `w${index}`, write.values);
  for (const [index, event] of events.entries()) prefix(values, `e${index}`, { ...event });
  await run(db, together, values);
}

function combine(statements: Statements, writes: readonly Write[], eventCount: number): Statement {
  const names: string[] = [];
  /** Each part counts its parameters from $1; here they go on where the part before ended. */
  const part = (alias: string, { sql: text, names: own }: Statement): string => {
    const offset = names.length;
    names.push(...own.map((name) => `${alias}.${name}`));
    return text.replaceAll(/\$(\d+)/g, (_, digits: string) => `$${Number(digits) + offset}`);
  };
  const parts = [
    ...writes.map(
      ({ key, build }, index) => `w${index} as (${part(`w${index}`, statements.get(key, build))})`,
    ),
    `numbered as (${part('b', bumpStatement(statements))})`,
    ...Array.from({ length: eventCount }, (_, index) => {
      const insert = numberedEvent(statements, eventCount - 1 - index);
      return `e${index} as (${part(`e${index}`, insert)})`;
    }),
  ];
  names.push('channel');
  return { sql: `with ${parts.join(', ')} select pg_notify($${names.length}, '')`, names, isLast: true };
}

/** An event whose number the same statement computes, `below` less than the last. */
function numberedEvent(statements: Statements, below: number): Statement {
  return statements.get(`insert event ${below}`, (db, value) =>
    db
      .insertInto('events')
      .columns(['number', 'at', 'type', 'subject', 'task', 'data'])
      .expression(
        sql`select numbered.last_event - ${sql.lit(below)}, ${value('at')}::bigint, ${value('type')}::text, ${value('subject')}::text, ${value('task')}::text, ${value('data')}::text from numbered`,
      ),
  );
}

const EVENT_COLUMNS = ['number', 'at', 'type', 'subject', 'task', 'data'] as const;

function prefix(into: Record<string, unknown>, alias: string, values: Values): void {
  for (const [name, value] of Object.entries(values)) into[`${alias}.${name}`] = value;
}
