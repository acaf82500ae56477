/** The latest runs of schedules and triggers. */

import { Link } from 'wouter';

import { shown } from '../../../../copse/src/kernel/text.ts';
import { spanText } from '../../../../copse/src/kernel/time.ts';
import { brief } from '../../parts/clipped.ts';
import { momentText } from '../../parts/moment.ts';
import { Refused } from '../../parts/page-state.tsx';
import type { Answer } from '../../store/hooks.tsx';
import styles from './fleet.module.css';

const SHOWN = 10;

export function Jobs({ answer }: { readonly answer: Answer<'job.list'> }) {
  const { data, error } = answer;
  if (data?.jobs.length === 0) return null;
  return (
    <section className={styles.part} aria-labelledby="jobs">
      <h2 id="jobs">Latest runs</h2>
      {data === undefined && error && <Refused problem={error} onAgain={() => void answer.refetch()} />}
      <ul className={styles.rows}>
        {data?.jobs
          .slice(0, SHOWN)
          .map(({ id, schedule, trigger, result, createdAt, durationMs, error, task }) => (
            <li key={id}>
              <div className={styles.what}>
                <Link href={`/tasks/${task.id}`}>
                  <strong>{shown(schedule ?? trigger ?? id)}</strong> <code>{task.id}</code>
                </Link>
              </div>
              <p>{result.replaceAll('_', ' ')}</p>
              <p>
                {momentText(createdAt)}
                {durationMs !== null && `, worked ${spanText(durationMs)}`}
                {error !== null && <small> {brief(error)}</small>}
              </p>
            </li>
          ))}
      </ul>
      <code className={styles.command}>copse jobs</code>
    </section>
  );
}
