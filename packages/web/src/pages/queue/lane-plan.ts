/**
 * Where the bars of checks go. A batch has one stripe for each of its tasks; the halves of a batch that failed keep the stripes that
 * they had in it, so that a bisection looks like a bar that splits.
 */

import type { Queue } from './page.tsx';

type Ended = Queue['ended'][number];
type Run = Queue['checks'][number] & Partial<Pick<Ended, 'until' | 'ending'>>;

export interface Bar {
  readonly run: Run;
  readonly ending: Ended['ending'] | 'running' | 'lost';
  /** Shares of the whole axis. */
  readonly left: number;
  readonly width: number;
  /** Shares of the lane. */
  readonly top: number;
  readonly height: number;
}

interface Lane {
  readonly slot: number;
  readonly bars: readonly Bar[];
  /** How many stripes its tallest batch has. */
  readonly rows: number;
}

interface LanePlan {
  readonly lanes: readonly Lane[];
  readonly from: number;
  readonly to: number;
}

const MOST_ROWS = 8;
/** A look back; the axis is shorter when less happened. */
const LOOK_BACK_MS = 3_600_000;
const SHORTEST_MS = 10_000;
/** A bar that is thinner cannot be seen or pointed at. */
const LEAST_SHARE = 0.008;

export function planLanes({ checks, lost, ended, slots }: Queue, now: number): LanePlan {
  const first = now - LOOK_BACK_MS;
  const recent = ended.filter(({ until }) => Date.parse(until) >= first);
  const runs: readonly (readonly [Run, Bar['ending']])[] = [
    ...recent.map((run) => [run, run.ending] as const),
    ...lost.map((run) => [run, 'lost'] as const),
    ...checks.map((run) => [run, 'running'] as const),
  ];
  const begun = runs.map(([{ since }]) => Math.max(first, Date.parse(since)));
  const from = Math.min(now - SHORTEST_MS, ...begun);
  const wholes = new Map<number, Run>([...ended, ...lost, ...checks].map((run) => [run.run, run]));
  const bars = runs.map(([run, ending]) => barOf(run, ending, { from, now, wholes }));
  const count = Math.max(slots.of, ...runs.map(([{ slot }]) => slot));
  const lanes = Array.from({ length: count }, (_, index) => {
    const own = bars.filter(({ run }) => run.slot === index + 1);
    const rows = Math.max(1, ...own.map(({ run }) => wholeOf(run, wholes).about.length));
    return { slot: index + 1, bars: own, rows: Math.min(MOST_ROWS, rows) };
  });
  return { lanes, from, to: now };
}

function barOf(
  run: Run,
  ending: Bar['ending'],
  {
    from,
    now,
    wholes,
  }: { readonly from: number; readonly now: number; readonly wholes: ReadonlyMap<number, Run> },
): Bar {
  const span = now - from;
  const begins = Math.max(from, Date.parse(run.since));
  const ends = run.until === undefined ? now : Date.parse(run.until);
  const width = Math.max(LEAST_SHARE, (ends - begins) / span);
  const whole = wholeOf(run, wholes).about;
  const places = run.about.map((task) => whole.indexOf(task)).filter((place) => place !== -1);
  const rows = Math.max(1, whole.length);
  const top = places.length === 0 ? 0 : Math.min(...places) / rows;
  const height = places.length === 0 ? 1 : (Math.max(...places) + 1) / rows - top;
  return { run, ending, left: Math.min(1 - width, (begins - from) / span), width, top, height };
}

/** The batch that was split first. */
function wholeOf(run: Run, wholes: ReadonlyMap<number, Run>): Run {
  let whole = run;
  for (let of = run.of; of !== null; of = whole.of) {
    const before = wholes.get(of);
    if (before === undefined || before.run >= whole.run) return whole;
    whole = before;
  }
  return whole;
}

/** Some four marks at round times. */
export function axisMarks(
  from: number,
  to: number,
): readonly { readonly at: number; readonly text: string }[] {
  const steps = [5, 10, 30, 60, 120, 300, 600, 900, 1_800].map((seconds) => seconds * 1_000);
  const step = steps.find((one) => (to - from) / one <= 5) ?? 1_800_000;
  const marks: { at: number; text: string }[] = [];
  for (let ago = step; to - ago > from; ago += step)
    marks.push({
      at: 1 - ago / (to - from),
      text: ago < 120_000 ? `${ago / 1_000} s ago` : `${ago / 60_000} min ago`,
    });
  return marks;
}
