/** Runs seeds, and tells how to see a failing one again. */

import { setImmediate } from 'node:timers/promises';

import { often } from '../support/long.ts';
import { simulate } from './simulate.ts';

/** How many there are in all; a night can afford more. */
export const SEEDS = often({ short: 200, long: 250, variable: 'COPSE_SEEDS' });
/** The only one to run, with everything that happens in it. */
export const onlySeed =
  process.env['COPSE_SEED'] === undefined ? undefined : Number(process.env['COPSE_SEED']);

/** How many lines before a violation are worth showing at once. */
const SHOWN = 80;

/** One of several equal parts of the seeds, so that several processes share them. */
export function partOfSeeds(part: number, parts: number): readonly number[] {
  return Array.from({ length: SEEDS }, (_, index) => index + 1).filter((seed) => seed % parts === part);
}

/** How often each thing happened in all of them. Throws at the first that breaks a rule. */
export async function runSeeds(seeds: readonly number[]): Promise<ReadonlyMap<string, number>> {
  const happened = new Map<string, number>();
  for (const seed of seeds) {
    const result = await simulate(seed);
    if (result.violations.length > 0) throw new Error(await explain(seed));
    for (const [what, count] of result.happened) happened.set(what, (happened.get(what) ?? 0) + count);
    await setImmediate();
  }
  return happened;
}

/** The same again, this time written down. */
async function explain(seed: number): Promise<string> {
  const { violations, trace } = await simulate(seed, { isTraced: true });
  const first = trace.findIndex((line) => line.includes('VIOLATION'));
  return [
    `Seed ${seed} breaks ${violations.length === 1 ? 'a rule' : `${violations.length} rules`}:`,
    ...violations.map((violation) => `  ${violation}`),
    'What happened before the first:',
    ...trace.slice(Math.max(0, first - SHOWN), first + 1),
    `All of it: COPSE_SEED=${seed} npm test -- test/simulation`,
  ].join('\n');
}
