/** What the queue's decision is worth: the same seeded worlds for four kinds of queues, with nothing real in them. */

import { batchAndBisect, oneAfterAnother, windowOfGuesses } from '../queues/others.ts';
import { sieveAndTrain } from '../queues/sieve.ts';
import { type Outcome, World, type WorldSettings, usualWorld } from '../queues/world.ts';
import { type Result, type Row, quantile } from '../row.ts';

const OTHERS = {
  'one after another': oneAfterAnother,
  'batch and bisect': batchAndBisect,
  'window of guesses': windowOfGuesses,
};
type Other = keyof typeof OTHERS;

/** How many times faster than each of the others it has to be, and than one after another was found possible. */
interface Goals {
  readonly atLeast: Readonly<Record<Other, number>>;
  readonly limit: number | null;
}

type Size = Pick<WorldSettings, 'branches' | 'slots'>;

const allAtOnce: readonly (Size & Goals)[] = [
  { branches: 200, slots: 1, atLeast: atLeast(1.2, 1, 1.2), limit: 1.4 },
  { branches: 200, slots: 4, atLeast: atLeast(3.5, 2, 1.5), limit: 3.9 },
  { branches: 200, slots: 8, atLeast: atLeast(5.5, 3, 1.5), limit: 6.5 },
  { branches: 200, slots: 16, atLeast: atLeast(7, 4, 1.5), limit: 7.8 },
  { branches: 1_000, slots: 16, atLeast: atLeast(12, 6, 2), limit: 14 },
];

const oneByOne: readonly (Size & Goals & Pick<WorldSettings, 'arrivalMs'>)[] = [
  { branches: 200, slots: 4, arrivalMs: 30_000, atLeast: atLeast(5, 1, 0.9), limit: null },
  { branches: 200, slots: 4, arrivalMs: 10_000, atLeast: atLeast(5, 1, 1), limit: null },
];

export const queueSimulation: Row = {
  name: 'queue, simulated',
  timeoutMs: 600_000,
  async measure(bench) {
    const seeds = Array.from({ length: bench.isQuick ? 5 : 20 }, (_, at) => at + 1);
    return [
      ...allAtOnce.flatMap(({ branches, slots, ...goals }) => {
        const few = branches > 200 ? seeds.slice(0, 5) : seeds;
        const what = `${branches} branches at once, ${slots} slots: makespan`;
        return compare(what, { ...usualWorld, branches, slots }, few, makespanMs, goals);
      }),
      ...oneByOne.flatMap(({ branches, slots, arrivalMs, ...goals }) => {
        const what = `${branches} branches, one every ${arrivalMs / 1_000} s, ${slots} slots: p95 of the wait`;
        return compare(what, { ...usualWorld, branches, slots, arrivalMs }, seeds, waitMs, goals);
      }),
    ];
  },
};

/** One line for each of the others. */
function compare(
  what: string,
  settings: Omit<WorldSettings, 'seed'>,
  seeds: readonly number[],
  of: (outcomes: readonly Outcome[]) => number,
  { atLeast, limit }: Goals,
): readonly Result[] {
  const simulate = (queue: (world: World) => Outcome) =>
    seeds.map((seed) => queue(new World({ ...settings, seed })));
  const own = simulate(sieveAndTrain);
  const reds = own.reduce((sum, one) => sum + one.redLandings, 0);
  return (Object.keys(OTHERS) as readonly Other[]).map((name) => {
    const other = simulate(OTHERS[name]);
    return {
      what: `${what}, ${name} / sieve and train`,
      measured: describe(own),
      against: describe(other),
      figure: of(other) / of(own),
      goal: { atLeast: atLeast[name], unit: '×' },
      limit: name === 'one after another' ? limit : null,
      broken: reds > 0 ? `${reds} red landings` : undefined,
    };
  });
}

function atLeast(sequential: number, batches: number, window: number): Goals['atLeast'] {
  return { 'one after another': sequential, 'batch and bisect': batches, 'window of guesses': window };
}

function makespanMs(outcomes: readonly Outcome[]): number {
  return outcomes.reduce((sum, one) => sum + one.makespanMs, 0) / outcomes.length;
}

function waitMs(outcomes: readonly Outcome[], share = 0.95): number {
  return quantile(
    outcomes.flatMap(({ waitsMs }) => waitsMs),
    share,
  );
}

function describe(outcomes: readonly Outcome[]): string {
  const sum = (of: (outcome: Outcome) => number) => outcomes.reduce((all, one) => all + of(one), 0);
  const minutes = (ms: number) => (ms / 60_000).toFixed(ms < 600_000 ? 1 : 0);
  return [
    `${minutes(makespanMs(outcomes))} min`,
    `p50 ${minutes(waitMs(outcomes, 0.5))}`,
    `p95 ${minutes(waitMs(outcomes))}`,
    `${(sum(({ checks }) => checks) / sum(({ landed }) => landed)).toFixed(2)} checks each`,
    `${sum(({ redLandings }) => redLandings)} red`,
    `${sum(({ wronged }) => wronged)} wronged`,
  ].join(', ');
}
