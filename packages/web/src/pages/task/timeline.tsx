/** What happened to the task, the newest first. The sentences are those of `copse events`. */

import { eventClause } from '../../../../copse/src/explain/rules/event-sentences.ts';
import { capitalised } from '../../../../copse/src/explain/rules/status.ts';
import { readEventView } from '../../../../copse/src/operations/views/data-view.ts';
import { clipped } from '../../parts/clipped.ts';
import { endsPage } from '../../api/problem.ts';
import { Loading, Refused } from '../../parts/page-state.tsx';
import { useAnswer } from '../../store/hooks.tsx';
import { Since } from './since.tsx';
import styles from './task.module.css';
import { useState } from 'react';

const FIRST = 200;
const MOST = 1_000;

/** Only programs use these. */
const QUIET = new Set([
  'attempt.process_known',
  'session.conversation_known',
  'attempt.snapshotted',
  'attempt.hook_started',
  'landing.journalled',
  'resource.taken',
  'resource.released',
]);

export function Timeline({ task }: { readonly task: string }) {
  const [count, setCount] = useState(FIRST);
  const { data, error, refetch } = useAnswer(
    'event.list',
    { task, last: count, limit: count },
    {
      about: ['task', 'session', 'attempt', 'landing', 'workspace', 'ledger', 'artifact', 'check'],
    },
  );
  if (endsPage(error, data)) return <Refused problem={error} onAgain={() => void refetch()} />;
  if (data === undefined) return <Loading what="the timeline" />;
  const events = data.events.filter(({ type }) => !QUIET.has(type)).toReversed();
  return (
    <>
      <ol className={styles.timeline} aria-label="What happened, newest first">
        {events.map((event) => (
          <li key={event.number} data-kind={kindOf(event.type)}>
            <span className={styles.mark} aria-hidden="true">
              {MARKS[kindOf(event.type)]}
            </span>
            <span className={styles.sentence}>{clipped(capitalised(eventClause(readEventView(event))))}</span>
            <Since at={event.at} />
          </li>
        ))}
      </ol>
      {data.events.length >= count && count < MOST && (
        <button type="button" className={styles.more} onClick={() => setCount(MOST)}>
          Show more
        </button>
      )}
    </>
  );
}

type Kind = 'bad' | 'person' | 'landing' | 'good' | 'work';

const MARKS: Readonly<Record<Kind, string>> = { bad: '✗', person: '?', landing: '⇥', good: '✓', work: '·' };

function kindOf(type: string): Kind {
  if (/crashed|failed|conflicted|rejected|interrupted/.test(type)) return 'bad';
  if (/attention|stuck|asked|sent_to_review|handed_back/.test(type)) return 'person';
  if (type === 'task.done' || type === 'landing.landed') return 'good';
  return type.startsWith('landing.') ? 'landing' : 'work';
}
