/** The charts of the page, from the answers of stats.show and cost.show. Pure. */

import { dollarsText } from '../../../../copse/src/explain/rules/amounts.ts';
import { spanText } from '../../../../copse/src/kernel/time.ts';
import type { OutputOf } from '../../api/operations.ts';

type Stats = OutputOf<'stats.show'>;
type CostRow = OutputOf<'cost.show'>['rows'][number];

export type Unit = 'count' | 'time' | 'share' | 'dollars';

export interface Chart {
  readonly id: string;
  readonly title: string;
  readonly unit: Unit;
  readonly shape: 'bars' | 'lines';
  /** Days, as 2026-11-30; a week is named by its first day. */
  readonly days: readonly string[];
  /** Null: unknown, which is not zero. */
  readonly lines: readonly { readonly name: string; readonly values: readonly (number | null)[] }[];
}

export function chartsOf(stats: Stats, costs: readonly CostRow[], now: Date): readonly Chart[] {
  const days = shownDays(stats, costs, now);
  const weeks = days.filter((_, index) => index % 7 === 0);
  const flow = new Map(stats.days.map((one) => [one.day, one]));
  const daily = (name: 'leadP50Ms' | 'leadP95Ms' | 'queueP50Ms' | 'queueP95Ms') =>
    days.map((day) => flow.get(day)?.[name] ?? null);
  const dollars = dollarsByDay(costs);
  const weekly = weeks.map((week) => sumOf(stats.rows.filter((row) => row.week === week)));
  const rate = (name: 'crashes' | 'stuck') =>
    weekly.map((sum) => (sum.attempts === 0 ? null : sum[name] / sum.attempts));
  const line = (name: string, values: readonly (number | null)[]) => ({ name, values });
  return [
    {
      id: 'landed',
      title: 'Landed per day',
      unit: 'count',
      shape: 'bars',
      days,
      lines: [
        line(
          'landed',
          days.map((day) => flow.get(day)?.landed ?? 0),
        ),
      ],
    },
    {
      id: 'lead',
      title: 'Lead time: from created to landed',
      unit: 'time',
      shape: 'lines',
      days,
      lines: [line('p50', daily('leadP50Ms')), line('p95', daily('leadP95Ms'))],
    },
    {
      id: 'queue',
      title: 'Queue time: from queued to landed',
      unit: 'time',
      shape: 'lines',
      days,
      lines: [line('p50', daily('queueP50Ms')), line('p95', daily('queueP95Ms'))],
    },
    {
      id: 'faults',
      title: 'Attempts that crashed or got stuck, by week',
      unit: 'share',
      shape: 'lines',
      days: weeks,
      lines: [line('crashed', rate('crashes')), line('stuck', rate('stuck'))],
    },
    {
      id: 'handbacks',
      title: 'Handbacks by week',
      unit: 'count',
      shape: 'bars',
      days: weeks,
      lines: [
        line(
          'handbacks',
          weekly.map(({ handbacks }) => handbacks),
        ),
      ],
    },
    {
      id: 'cost',
      title: 'Cost per day',
      unit: 'dollars',
      shape: 'bars',
      days,
      lines: [
        line(
          'dollars',
          days.map((day) => (dollars.has(day) ? (dollars.get(day) ?? null) : 0)),
        ),
      ],
    },
  ];
}

/** Null: no agent of that day reported any. */
function dollarsByDay(costs: readonly CostRow[]): ReadonlyMap<string | undefined, number | null> {
  const dollars = new Map<string | undefined, number | null>();
  for (const { day, dollars: more } of costs) {
    const before = dollars.get(day) ?? null;
    dollars.set(day, more === null ? before : (before ?? 0) + more);
  }
  return dollars;
}

/** A table: a row for each day with the latest first, a column for each agent. */
export function costTable(costs: readonly CostRow[]) {
  const agents = [...new Set(costs.map(({ agent = '' }) => agent))].toSorted();
  const days = [...new Set(costs.map(({ day = '' }) => day))].toSorted().toReversed();
  return {
    agents,
    rows: days.map((day) => ({
      day,
      cells: agents.map((agent) => costs.find((row) => row.day === day && row.agent === agent)),
    })),
  };
}

/** Of its first line; null without any figure that says something. */
export function meanOf({ lines, unit }: Chart): number | null {
  const values = (lines[0]?.values ?? []).filter((value) => value !== null);
  const sum = values.reduce((total, value) => total + value, 0);
  if (values.length === 0 || (sum === 0 && unit === 'dollars')) return null;
  return sum / values.length;
}

export function amountText(value: number, unit: Unit): string {
  switch (unit) {
    case 'time':
      return spanText(Math.round(value));
    case 'share':
      return `${Math.round(value * 100)} %`;
    case 'dollars':
      return dollarsText(value);
    default:
      return Number.isInteger(value) ? String(value) : value.toFixed(value < 1 ? 2 : 1);
  }
}

function sumOf(rows: Stats['rows']) {
  const sum = { attempts: 0, crashes: 0, stuck: 0, handbacks: 0 };
  for (const row of rows) {
    sum.attempts += row.attempts;
    sum.crashes += row.crashes;
    sum.stuck += row.stuck;
    sum.handbacks += row.handbacks;
  }
  return sum;
}

/** A young board has no empty weeks in its charts, and no mean over them; but always two. It begins with a week, as `since` does. */
function shownDays(stats: Stats, costs: readonly CostRow[], now: Date): readonly string[] {
  const days = daysFrom(stats.since, now);
  const rows = [...stats.days, ...costs].map(({ day }) => day ?? '');
  const begun = [...rows, ...stats.rows.map(({ week }) => week)].filter((day) => day !== '').toSorted()[0];
  const latest = days.at(-FEWEST_DAYS) ?? stats.since;
  const wanted = begun !== undefined && begun < latest ? begun : latest;
  const at = days.findLastIndex((day, index) => index % 7 === 0 && day <= wanted);
  return days.slice(Math.max(0, at));
}

const FEWEST_DAYS = 14;

/** Every day up to today, as the machine of this page counts days. */
function daysFrom(first: string, now: Date): readonly string[] {
  const days: string[] = [];
  const last = dayText(now);
  const day = new Date(`${first}T12:00`);
  for (let text = first; text <= last; text = dayText(day)) {
    days.push(text);
    day.setDate(day.getDate() + 1);
  }
  return days;
}

function dayText(date: Date): string {
  const two = (part: number) => String(part).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
