/** What every `evolve…` function relies on: a record begins once and exists until it ends. */

import type { Timestamp } from './ids.ts';

/** What every event has; the room adds its own fields. */
export interface EventHead<Type extends string, Id> {
  readonly type: Type;
  /** Of the record that it happened to. */
  readonly id: Id;
  readonly at: Timestamp;
}

interface Happened {
  readonly type: string;
  readonly id: string;
}

/** A second beginning would replace the record without notice, tokens included. */
export function mustBeNew(record: object | undefined, event: Happened): void {
  if (record !== undefined) throw new Error(`${event.type} happened to ${event.id}, which already exists`);
}

export function existing<T extends object>(record: T | undefined, event: Happened): T {
  if (record === undefined) throw new Error(`${event.type} happened to ${event.id}, which does not exist`);
  return record;
}
