import { type Stats, type StatsRow, statNames } from '../../explain/rules/stats.ts';

export interface StatsView {
  readonly weeks: number;
  /** The first day that is counted. */
  readonly since: string;
  readonly rows: readonly (Stats & { readonly week: string; readonly agent: string })[];
  readonly total: Stats;
}

export function statsView({
  weeks,
  since,
  rows,
  total,
}: {
  readonly weeks: number;
  readonly since: string;
  readonly rows: readonly StatsRow[];
  readonly total: Stats;
}): StatsView {
  return {
    weeks,
    since,
    rows: rows.map((row) => ({ week: row.week, agent: row.agent, ...numbers(row) })),
    total: numbers(total),
  };
}

function numbers(of: Stats): Stats {
  return Object.fromEntries(statNames.map((name) => [name, of[name]])) as unknown as Stats;
}
