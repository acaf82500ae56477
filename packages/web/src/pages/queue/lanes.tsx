/** Slots as lanes on a time axis, and the same as a list of sentences. */

import { shown } from '../../../../copse/src/kernel/text.ts';
import { spanText } from '../../../../copse/src/kernel/time.ts';
import { useNow } from '../../parts/now.ts';
import { useRecords } from '../../store/hooks.tsx';
import { type Bar, axisMarks, planLanes } from './lane-plan.ts';
import type { Queue } from './page.tsx';
import styles from './queue.module.css';

const LOOKS: Readonly<Record<Bar['ending'], readonly [glyph: string, word: string]>> = {
  passed: ['✓', 'passed'],
  failed: ['✗', 'failed'],
  dropped: ['–', 'ended without a verdict'],
  running: ['◐', 'running'],
  lost: ['?', 'lost with its orchestrator'],
};

export function Lanes({ queue }: { readonly queue: Queue }) {
  const tick = useNow(queue.checks.length > 0 ? 1_000 : undefined);
  // An answer may be younger than the last tick.
  const now = Math.max(tick, Date.now());
  const tasks = useRecords('task');
  const titleOf = (task: string) => shown(tasks.get(task)?.title ?? '');
  const { lanes, from, to } = planLanes(queue, now);
  const bars = lanes.flatMap((lane) => lane.bars).toSorted((a, b) => b.run.run - a.run.run);
  if (bars.length === 0) return <p className={styles.quiet}>No check ran in the last hour.</p>;
  return (
    <figure className={styles.picture}>
      <div className={styles.lanes} aria-hidden="true">
        {lanes.map(({ slot, bars: own, rows }) => (
          <div key={slot} className={styles.lane}>
            <span className={styles.slot}>slot {slot}</span>
            <div className={styles.track} style={{ height: `${Math.max(40, rows * 24)}px` }}>
              {own.map((bar) => (
                <BarOfRun
                  key={`${bar.run.run} ${bar.run.since}`}
                  bar={bar}
                  title={sentenceOf(bar, now)}
                  titleOf={titleOf}
                />
              ))}
            </div>
          </div>
        ))}
        <div className={styles.axis}>
          {axisMarks(from, to).map(({ at, text }) => (
            <span key={text} style={{ left: `${at * 100}%` }}>
              {text}
            </span>
          ))}
          <span style={{ left: '100%' }}>now</span>
        </div>
      </div>
      <figcaption>
        Each bar is one run of the checks, with a stripe for each task. A batch that fails is split into
        halves.
      </figcaption>
      <details className={styles.runs}>
        <summary>The same as a list, the latest first</summary>
        <ul aria-label="Runs of the checks">
          {bars.map((bar) => (
            <li key={`${bar.run.run} ${bar.run.since}`}>
              <span aria-hidden="true">{LOOKS[bar.ending][0]}</span> {sentenceOf(bar, now)}
            </li>
          ))}
        </ul>
      </details>
    </figure>
  );
}

interface BarProps {
  readonly bar: Bar;
  readonly title: string;
  readonly titleOf: (task: string) => string;
}

function BarOfRun({ bar, title, titleOf }: BarProps) {
  const { run, ending, left, width, top, height } = bar;
  const place = {
    left: `${left * 100}%`,
    width: `${width * 100}%`,
    top: `${top * 100}%`,
    height: `${height * 100}%`,
  };
  return (
    <div className={styles.bar} style={place} data-ending={ending} title={title}>
      <div>
        <span>{LOOKS[ending][0]}</span>
        <span className={styles.stripes}>
          {run.about.length === 0 ? (
            <i>{shown(run.says)}</i>
          ) : (
            run.about.map((task) => (
              <i key={task}>
                {task} <b>{titleOf(task)}</b>
              </i>
            ))
          )}
        </span>
      </div>
    </div>
  );
}

function sentenceOf({ run, ending }: Bar, now: number): string {
  const [, word] = LOOKS[ending];
  const begun = Date.parse(run.since);
  const ended = run.until === undefined ? now : Date.parse(run.until);
  const verb = run.until === undefined ? `${word} for` : `${word} after`;
  return `${shown(run.says)}: ${verb} ${spanText(Math.max(0, ended - begun))}, in slot ${run.slot}`;
}
