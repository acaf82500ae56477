import type { FlowDay } from '../../queue/rules/view/flow.ts';
import { type Stats, type StatsRow, statNames } from '../../explain/rules/stats.ts';

export interface StatsView {
  readonly weeks: number;
  /** The first day that is counted. */
  readonly since: string;
  readonly rows: readonly (Stats & { readonly week: string; readonly agent: string })[];
  readonly total: Stats;
  readonly days: readonly FlowDay[];
}

export function statsView({
  weeks,
  since,
  rows,
  total,
  days,
}: {
  readonly weeks: number;
  readonly since: string;
  readonly rows: readonly StatsRow[];
  readonly total: Stats;
  readonly days: readonly FlowDay[];
}): StatsView {
  return {
    weeks,
    since,
    rows: rows.map((row) => ({ week: row.week, agent: row.agent, ...numbers(row) })),
    total: numbers(total),
    days,
  };
}

function numbers(of: Stats): Stats {
  return Object.fromEntries(statNames.map((name) => [name, of[name]])) as unknown as Stats;
}
