/** How the queue did lately, and what landed last. */

import { Link } from 'wouter';

import { age } from '../../../../copse/src/explain/rules/amounts.ts';
import { timestamp } from '../../../../copse/src/kernel/ids.ts';
import { spanText } from '../../../../copse/src/kernel/time.ts';
import { brief } from '../../parts/clipped.ts';
import { useNow } from '../../parts/now.ts';
import { useRecords } from '../../store/hooks.tsx';
import type { Queue } from './page.tsx';
import styles from './queue.module.css';

export function Figures({ queue }: { readonly queue: Queue }) {
  const tasks = useRecords('task');
  const now = useNow();
  const { landedLastHour, p50Ms, p95Ms, checksPerLanded, oldestMs } = queue.figures;
  const span = (ms: number | null) => (ms === null ? '–' : spanText(ms));
  const figures: readonly (readonly [string, string])[] = [
    ['landed in the last hour', String(landedLastHour)],
    ['time to land, p50', span(p50Ms)],
    ['time to land, p95', span(p95Ms)],
    ['checks usually take', span(queue.usualMs)],
    ['checks per landing', checksPerLanded === null ? '–' : checksPerLanded.toFixed(1)],
    ['oldest waits', span(oldestMs)],
  ];
  return (
    <footer className={styles.foot}>
      <dl className={styles.figures}>
        {figures.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {queue.landed.length > 0 && (
        <ul className={styles.landed} aria-label="Landed last">
          {queue.landed.map(({ landing, task, commit, at, tookMs, isVerified }) => (
            <li key={landing}>
              <span aria-hidden="true">✓</span>{' '}
              <Link href={`/tasks/${task}`}>
                <span className={styles.id}>{task}</span> {brief(tasks.get(task)?.title ?? '')}
              </Link>{' '}
              landed {age(timestamp(Date.parse(at)), now)} ago as <code>{commit.slice(0, 10)}</code>,{' '}
              {isVerified ? 'checked' : 'without checks'}, {spanText(tookMs)} after it was queued
            </li>
          ))}
        </ul>
      )}
    </footer>
  );
}
