/** What every `evolve…` function relies on: a record begins once and exists until it ends. */

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
