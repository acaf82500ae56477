/**
 * Exports a board as lines, and imports them into an empty board of either engine.
 *
 * An import replays the events and compares the result with the records: a truncated or edited file is refused as a
 * whole.
 */

import { isDeepStrictEqual } from 'node:util';

import type { Lease } from '../tasks/rules/claim.ts';
import {
  type AnyRecord,
  type RecordedEvent,
  type RecordKind,
  type World,
  kindOf,
  recordKinds,
  replay,
} from './rules/event.ts';
import type { BoardLine } from './rules/board-line.ts';
import type { Task } from '../tasks/rules/task.ts';
import type { ImportOutcome } from './port.ts';
import type { Engine } from './sql/engine.ts';
import { migrations } from './migrations/index.ts';
import { eventFromRow, leaseFromRow } from './sql/reader.ts';
import { fromRow, taskOf, toRow } from './sql/rows.ts';
import { tableOf, type Queries } from './sql/schema.ts';
import type { Statements } from './sql/statements.ts';
import { type EventRow, type Write, insertRecord, insertRow, setLease } from './sql/writes.ts';

const PAGE = 500;

export async function exportBoard(db: Queries, write: (line: BoardLine) => Promise<void>): Promise<void> {
  const board = await db.selectFrom('board').selectAll().executeTakeFirstOrThrow();
  const { id, version, last_event: events } = board;
  await write({ line: 'board', format: 1, version, id, events });
  for (const kind of recordKinds) {
    for await (const record of allRecords(db, kind)) await write({ line: 'record', kind, record });
  }
  for (const lease of await db.selectFrom('leases').selectAll().orderBy('task').execute()) {
    await write({ line: 'lease', lease: leaseFromRow(lease) });
  }
  for (let after = 0; ;) {
    const rows = await db
      .selectFrom('events')
      .select(['number', 'data'])
      .where('number', '>', after)
      .orderBy('number')
      .limit(PAGE)
      .execute();
    for (const row of rows) await write({ line: 'event', recorded: eventFromRow(row) });
    if (rows.length < PAGE) return;
    after = rows.at(-1)?.number ?? after;
  }
}

export async function importBoard(
  engine: Engine,
  statements: Statements,
  { records, leases, events }: ReadLines,
): Promise<ImportOutcome> {
  return engine.transaction(async (transaction): Promise<ImportOutcome> => {
    const { last_event } = await transaction
      .selectFrom('board')
      .select('last_event')
      .$if(engine.locksRows, (board) => board.forUpdate())
      .executeTakeFirstOrThrow();
    if (last_event > 0) {
      return {
        kind: 'not_empty',
        reason: `The board at ${engine.location} is not empty: it has ${last_event} events.`,
      };
    }
    await engine.write(transaction, statements, writesFor(records, leases), eventRows(records, events));
    return { kind: 'imported', records: records.length, events: events.length };
  });
}

interface ReadLines {
  readonly records: readonly { readonly kind: RecordKind; readonly record: AnyRecord }[];
  readonly leases: readonly Lease[];
  readonly events: readonly RecordedEvent[];
}

export async function readExport(
  lines: AsyncIterable<BoardLine>,
): Promise<ReadLines | { readonly reason: string }> {
  const records: { kind: RecordKind; record: AnyRecord }[] = [];
  const leases: Lease[] = [];
  const events: RecordedEvent[] = [];
  let number = 0;
  let expectedEvents = 0;
  for await (const line of lines) {
    number += 1;
    if (number === 1) {
      if (line.line !== 'board') return { reason: 'The file is not an export of a board.' };
      expectedEvents = line.events;
      if (line.version > migrations.length) {
        return {
          reason: `A newer Copse exported it (board version ${line.version}; this Copse knows ${migrations.length}).`,
        };
      }
    } else if (line.line === 'record') records.push({ kind: line.kind, record: line.record });
    else if (line.line === 'lease') leases.push(line.lease);
    else if (line.line === 'event') events.push(line.recorded);
  }
  if (number === 0) return { reason: 'The file is empty.' };
  const gap = events.findIndex((recorded, index) => recorded.number !== index + 1);
  if (gap >= 0) return { reason: `The export is incomplete: event ${gap + 1} is missing.` };
  if (events.length !== expectedEvents) {
    return { reason: `The export is incomplete: it has ${events.length} of ${expectedEvents} events.` };
  }
  const problem = disagreement(records, leases, events);
  return problem === undefined ? { records, leases, events } : { reason: problem };
}

function disagreement(
  records: ReadLines['records'],
  leases: readonly Lease[],
  events: readonly RecordedEvent[],
): string | undefined {
  let world: World;
  try {
    world = replay(events.map((recorded) => recorded.event));
  } catch (error) {
    return `Its events contradict each other: ${error instanceof Error ? error.message : String(error)}.`;
  }
  const present = new Set(records.map(({ kind, record }) => `${kind} ${record.id}`));
  const expected = recordKinds.reduce((sum, kind) => sum + world[kind].size, 0);
  if (present.size !== records.length || expected !== records.length) {
    return `The export is incomplete: it has ${records.length} of ${expected} records.`;
  }
  for (const { kind, record } of records) {
    // Through JSON, as the records of the file.
    const replayed: unknown = JSON.parse(JSON.stringify(world[kind].get(record.id) ?? null));
    if (!isDeepStrictEqual(replayed, record)) {
      return `The export was edited: the ${kind} ${record.id} does not match its events.`;
    }
  }
  const held = [...world.task.values()].filter((task) => task.state.status === 'in_progress');
  const isHeld = ({ task, token }: Lease) =>
    held.some(
      ({ id, state }) => id === task && state.status === 'in_progress' && state.claim.token === token,
    );
  if (
    leases.length !== held.length ||
    new Set(leases.map(({ task }) => task)).size !== held.length ||
    !leases.every(isHeld)
  ) {
    return 'The export was edited: its leases do not match the tasks in progress.';
  }
  return undefined;
}

async function* allRecords(db: Queries, kind: RecordKind): AsyncGenerator<AnyRecord> {
  for (let after = ''; ;) {
    const rows = await db
      .selectFrom(tableOf[kind] as 'tasks')
      .select(['id', 'data'])
      .$if(kind === 'task', (query) => query.select('body'))
      .where('id', '>', after)
      .orderBy('id')
      .limit(PAGE)
      .execute();
    for (const row of rows) yield fromRow(kind, row);
    if (rows.length < PAGE) return;
    after = rows.at(-1)?.id ?? after;
  }
}

function writesFor(records: ReadLines['records'], leases: readonly Lease[]): readonly Write[] {
  return [
    ...records.flatMap(({ kind, record }) => [
      insertRecord(kind, toRow(kind, record as never)),
      ...(kind === 'task' ? taskRows(record as Task) : []),
    ]),
    ...leases.map(({ task, token, renewedAt, expiresAt }) =>
      setLease({ task, token, renewed_at: renewedAt, expires_at: expiresAt }),
    ),
  ];
}

function taskRows({ id, dependsOn, requires }: Task): readonly Write[] {
  return [
    ...dependsOn.map((dependency) => insertRow('dependencies', { task: id, depends_on: dependency })),
    ...requires.map((capability) => insertRow('requirements', { task: id, capability })),
  ];
}

/** They get the same numbers again, because they begin at 1 without gaps. */
function eventRows(records: ReadLines['records'], events: readonly RecordedEvent[]): readonly EventRow[] {
  const tasks = new Map(records.map(({ kind, record }) => [`${kind} ${record.id}`, taskOf(kind, record)]));
  return events.map(({ by, event }) => {
    const kind = kindOf(event);
    return {
      at: event.at,
      type: event.type,
      subject: event.id,
      task: kind === 'task' ? event.id : (tasks.get(`${kind} ${event.id}`) ?? null),
      data: JSON.stringify({ by, event }),
    };
  });
}
