import type { Context } from '../board/context.ts';
import { eventsSoFar } from '../board/events-so-far.ts';
import { type EventNumber, type Timestamp, brand } from '../kernel/ids.ts';
import { type Stats, StatsCount, type StatsRow, countedTypes, sumOf } from './rules/stats.ts';

export interface StatsQuery {
  readonly since: Timestamp;
  /** The day on which the week of a time begins, in the caller's time zone. */
  readonly weekOf: (at: Timestamp) => string;
}

/** How agents did since then, by week. */
export async function loadStats(
  { board }: Context,
  { since, weekOf }: StatsQuery,
): Promise<{ readonly rows: readonly StatsRow[]; readonly total: Stats }> {
  const count = new StatsCount(since, weekOf);
  const after = brand<EventNumber>(0);
  for await (const { event } of eventsSoFar(board, { after, types: countedTypes })) count.see(event);
  const rows = count.rows();
  return { rows, total: sumOf(rows) };
}
