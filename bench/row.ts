/** What a benchmark is, and the few measurements all of them share. */

/** One question about speed. It may answer with several lines of the table, where they share a costly set-up. */
export interface Row {
  readonly name: string;
  /** Where a minute is too short. */
  readonly timeoutMs?: number;
  measure(bench: Bench): Promise<readonly Result[]>;
}

/** One line of the table. */
export interface Result {
  readonly what: string;
  readonly measured: string;
  /** The peer or the naive way, measured in the same run. */
  readonly against: string;
  readonly figure: number;
  readonly goal: Goal;
  /** The best that was found possible, in the unit of the goal. */
  readonly limit: number | null;
  /** Something the figure rests on that turned out false; the goal then does not hold, whatever the figure. */
  readonly broken?: string | undefined;
  /** Why a goal may not hold, where that is known; printed when it does not. */
  readonly why?: string | undefined;
}

export type Goal =
  | { readonly atMost: number; readonly unit: string }
  | { readonly atLeast: number; readonly unit: string };

export interface Bench {
  readonly isQuick: boolean;
  /** A new folder with spaces in its path, on the disk that holds temporary files. */
  newFolder(): Promise<string>;
  /** A schema of its own on one durable server that all rows share. */
  newPostgresUrl(): Promise<string>;
  /** Called at the end, also after a failure or an interrupt; the latest first. */
  atEnd(cleanUp: () => unknown): void;
}

export function holds({ figure, goal, broken }: Result): boolean {
  if (broken !== undefined) return false;
  return 'atMost' in goal ? figure <= goal.atMost : figure >= goal.atLeast;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) throw new Error('Nothing was measured');
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
}

/**
 * The median time of each alternative in ms. They take turns, in changing order, so that whatever else the machine
 * does slows all of them; the first turns are not counted.
 */
export async function interleave<Name extends string>(
  alternatives: Readonly<Record<Name, () => unknown>>,
  { repetitions, warmUps = 2 }: { readonly repetitions: number; readonly warmUps?: number },
): Promise<Readonly<Record<Name, number>>> {
  const entries = Object.entries(alternatives) as [Name, () => unknown][];
  const timesMs = new Map<Name, number[]>(entries.map(([name]) => [name, []]));
  for (let turn = -warmUps; turn < repetitions; turn += 1) {
    for (const [name, run] of turn % 2 === 0 ? entries : entries.toReversed()) {
      const beganMs = performance.now();
      await run();
      if (turn >= 0) timesMs.get(name)!.push(performance.now() - beganMs);
    }
  }
  const medians = entries.map(([name]) => [name, median(timesMs.get(name)!)]);
  return Object.fromEntries(medians) as Record<Name, number>;
}

export function inMs(ms: number): string {
  return ms < 1_000 ? `${ms.toPrecision(3)} ms` : `${(ms / 1_000).toPrecision(3)} s`;
}
