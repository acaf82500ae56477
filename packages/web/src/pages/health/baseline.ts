/** The means of a time that a person chose to compare with. They stay in this browser. */

import { type Chart, meanOf } from './charts.ts';

export interface Baseline {
  readonly at: string;
  readonly weeks: number;
  readonly means: Readonly<Record<string, number>>;
}

const KEY = 'copse.baseline';

export function pinBaseline(charts: readonly Chart[], weeks: number, now: Date): Baseline {
  const means = charts.flatMap((chart) => {
    const mean = meanOf(chart);
    return mean === null ? [] : [[chart.id, mean] as const];
  });
  const baseline = { at: now.toISOString(), weeks, means: Object.fromEntries(means) };
  localStorage.setItem(KEY, JSON.stringify(baseline));
  return baseline;
}

/** Null also when another version of the page wrote something else there. */
export function readBaseline(): Baseline | null {
  try {
    const stored = JSON.parse(localStorage.getItem(KEY) ?? 'null') as Partial<Baseline> | null;
    const { at, weeks, means } = stored ?? {};
    if (typeof at !== 'string' || typeof weeks !== 'number' || typeof means !== 'object') return null;
    const numbers = Object.entries(means).filter(([, mean]) => typeof mean === 'number');
    return { at, weeks, means: Object.fromEntries(numbers) };
  } catch {
    return null;
  }
}

export function forgetBaseline(): void {
  localStorage.removeItem(KEY);
}
