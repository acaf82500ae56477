/**
 * The records of the board at one event number, and what events make of them. Pure; the same `evolve` as the board's own.
 * The page, the time slider and an opened export all use it.
 */

import {
  type AnyRecord,
  type BoardEvent,
  type RecordKind,
  type Records,
  type World,
  evolve,
  kindOf,
  recordKinds,
} from '../../../copse/src/board/rules/event.ts';
import { readDataView } from '../../../copse/src/operations/views/data-view.ts';

export interface WorldAt {
  /** The number of the last event that is in it. */
  readonly at: number;
  readonly world: World;
}

export interface NumberedEvent {
  readonly number: number;
  readonly event: BoardEvent;
}

type GivenRecords = { readonly [K in RecordKind]?: readonly Records[K][] };

export const emptyWorld: WorldAt = { at: 0, world: worldOf({}) };

/** From the answer of /api/v1/snapshot/records. */
export function worldOfSnapshot({
  at,
  records,
}: {
  readonly at: number;
  readonly records: unknown;
}): WorldAt {
  return { at, world: worldOf(readDataView(records) as GivenRecords) };
}

/** Events that it has already are left out; a kind of record that no event is about keeps its identity. */
export function afterEvents(before: WorldAt, events: readonly NumberedEvent[]): WorldAt {
  const changed: Partial<Record<RecordKind, Map<string, AnyRecord>>> = {};
  let { at } = before;
  for (const { number, event } of events) {
    if (number <= at) continue;
    at = number;
    const kind = kindOf(event);
    const records = (changed[kind] ??= new Map<string, AnyRecord>(before.world[kind]));
    apply(records, event);
  }
  return at === before.at ? before : { at, world: { ...before.world, ...changed } as World };
}

function apply(records: Map<string, AnyRecord>, event: BoardEvent): void {
  const record = records.get(event.id);
  const next = evolved(record, event);
  if (next === undefined) records.delete(event.id);
  else records.set(event.id, 'body' in next ? { ...next, body: '' } : next);
}

/** A session goes on that the snapshot left out, because its task was finished: only a newer snapshot has it. */
export class LeftOut extends Error {}

/**
 * A snapshot has no sessions of finished tasks, and no ended landings: an event about one of these, such as a late cost, concerns no
 * page unless it opens the record again.
 */
function evolved(record: AnyRecord | undefined, event: BoardEvent): AnyRecord | undefined {
  if (record === undefined && event.type === 'session.reopened') throw new LeftOut(event.id);
  try {
    return evolve(record, event);
  } catch (error) {
    if (record === undefined) return undefined;
    throw error;
  }
}

function worldOf(given: GivenRecords): World {
  const entries = recordKinds.map((kind) => {
    const records: readonly AnyRecord[] = given[kind] ?? [];
    return [kind, new Map(records.map((record) => [idOf(record), record]))] as const;
  });
  return Object.fromEntries(entries) as unknown as World;
}

function idOf(record: AnyRecord): string {
  return 'id' in record ? record.id : '';
}
