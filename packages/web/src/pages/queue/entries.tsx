/** Every entry in the order of landing: why it is where it is, behind which tasks, and when it may land. */

import { memo } from 'react';
import { Link } from 'wouter';

import { age } from '../../../../copse/src/explain/rules/amounts.ts';
import { rangeText } from '../../../../copse/src/explain/rules/queue.ts';
import { timestamp } from '../../../../copse/src/kernel/ids.ts';
import { shown } from '../../../../copse/src/kernel/text.ts';
import { Act } from '../../parts/act.tsx';
import type { Queue } from './page.tsx';
import { brief } from '../../parts/clipped.ts';
import { useNow } from '../../parts/now.ts';
import styles from './queue.module.css';

type Entry = Queue['entries'][number];

const STATES: Readonly<Record<Entry['state'], readonly [glyph: string, word: string]>> = {
  landing: ['⇥', 'landing'],
  green: ['✓', 'passed'],
  checking: ['◐', 'checking'],
  again: ['↻', 'again'],
  half: ['◧', 'half'],
  waiting: ['…', 'waiting'],
  held: ['‖', 'held'],
  handed_back: ['✗', 'failed'],
};

export function Entries({ queue: { entries } }: { readonly queue: Queue }) {
  return (
    <ol className={styles.entries} aria-label="Entries in the order of landing">
      {entries.map((entry) => (
        <EntryRow key={entry.landing} entry={entry} />
      ))}
    </ol>
  );
}

const EntryRow = memo(function EntryRow({ entry }: { readonly entry: Entry }) {
  const { position, task, title, state, why, behind, queuedAt, isHotfix, isUnchecked } = entry;
  const [glyph, word] = STATES[state];
  const waited = age(timestamp(Date.parse(queuedAt)), useNow());
  return (
    <li className={styles.entry} data-state={state}>
      <span className={styles.position}>{position}</span>
      <div className={styles.what}>
        <Link href={`/tasks/${task}`} className={styles.title}>
          <span className={styles.id}>{task}</span> {shown(title)}
        </Link>
        <p>
          {isHotfix && <strong>hotfix, </strong>}
          {isUnchecked && <strong>unchecked, </strong>}
          {brief(why)}
        </p>
        {behind.length > 0 && <Behind tasks={behind} />}
      </div>
      <span className={styles.state}>
        <span aria-hidden="true">{glyph}</span> {word}
      </span>
      <span className={styles.time}>
        {timeOf(entry)} <small>queued {waited} ago</small>
      </span>
      <EntryActs entry={entry} />
    </li>
  );
});

/** A range only where nothing but checks delays it; otherwise it says that there is none. */
function timeOf({ state, range }: Entry): string {
  if (state === 'landing') return 'lands now';
  return range === null ? 'no estimate' : `lands in ${rangeText(range)}`;
}

const SHOWN_BEHIND = 4;

function Behind({ tasks }: { readonly tasks: readonly string[] }) {
  const more = tasks.length - SHOWN_BEHIND;
  return (
    <p className={styles.behind}>
      behind{' '}
      {tasks.slice(0, SHOWN_BEHIND).map((task, index) => (
        <span key={task}>
          {index > 0 && ', '}
          <Link href={`/tasks/${task}`}>{task}</Link>
        </span>
      ))}
      {more > 0 && ` and ${more} more`}
    </p>
  );
}

function EntryActs({ entry: { task, state, isHotfix } }: { readonly entry: Entry }) {
  if (state === 'landing') return <span />;
  return (
    <div className={styles.buttons}>
      {!isHotfix && (
        <Act
          name="queue.front"
          input={{ tasks: [task] }}
          label="To the front"
          command={`copse queue front ${task}`}
          done={({ restarts }) => ({
            text: `${task} is first now${restarts === 0 ? '' : `; running checks that start again: ${restarts}`}.`,
          })}
        />
      )}
      {state === 'held' && (
        <Act
          name="queue.retry"
          input={{ tasks: [task] }}
          label="Retry"
          command={`copse queue retry ${task}`}
          done={() => ({ text: `${task} is in the queue again.` })}
        />
      )}
      <Act
        name="queue.cancel"
        input={{ tasks: [task] }}
        label="Take out"
        command={`copse queue cancel ${task}`}
        done={() => ({
          text: `${task} left the queue and is back in review.`,
          next: [`copse queue retry ${task}`],
        })}
      />
    </div>
  );
}
