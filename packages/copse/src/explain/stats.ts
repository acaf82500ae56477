import type { Context } from '../board/context.ts';
import { eventsSoFar } from '../board/events-so-far.ts';
import { type EventNumber, type Timestamp, brand } from '../kernel/ids.ts';
import { FlowCount, type FlowDay, flowTypes } from '../queue/rules/view/flow.ts';
import { type Stats, StatsCount, type StatsRow, countedTypes, sumOf } from './rules/stats.ts';

export interface StatsQuery {
  readonly since: Timestamp;
  /** The day on which the week of a time begins, in the caller's time zone. */
  readonly weekOf: (at: Timestamp) => string;
  readonly dayOf: (at: Timestamp) => string;
}

/** How agents did since then, by week, and how work flowed, by day. */
export async function loadStats(
  { board }: Context,
  { since, weekOf, dayOf }: StatsQuery,
): Promise<{
  readonly rows: readonly StatsRow[];
  readonly total: Stats;
  readonly days: readonly FlowDay[];
}> {
  const count = new StatsCount(since, weekOf);
  const flow = new FlowCount(since, dayOf);
  const after = brand<EventNumber>(0);
  const types = [...countedTypes, ...flowTypes];
  for await (const { event } of eventsSoFar(board, { after, types })) {
    count.see(event);
    flow.see(event);
  }
  const rows = count.rows();
  return { rows, total: sumOf(rows), days: flow.days() };
}
