/** The last things that a person wants to have noticed, below the cards: a card that moved on no longer shows that its agent crashed. */

import { useEffect, useState } from 'react';
import { Link } from 'wouter';

import type { EventType } from '../../../../copse/src/board/rules/event.ts';
import { eventClause } from '../../../../copse/src/explain/rules/event-sentences.ts';
import { readEventView } from '../../../../copse/src/operations/views/data-view.ts';
import { eventPages } from '../../api/events.ts';
import { brief } from '../../parts/clipped.ts';
import { momentText } from '../../parts/moment.ts';
import { useDesk, useRecords } from '../../store/hooks.tsx';
import type { NumberedEvent } from '../../store/world.ts';
import styles from './board.module.css';

const MARKS: { readonly [T in EventType]?: string } = {
  'task.crashed': '✗',
  'task.failed': '✗',
  'task.handed_back': '↩',
  'task.stuck': '?',
  'task.needs_attention': '!',
  'task.sent_to_review': '?',
  'task.done': '✓',
};

const MOST = 20;
const LOOKED_AT = 200;

export default function News() {
  const { news, isRead, problem, again } = useNews();
  const tasks = useRecords('task');
  // Its place is kept: what is above must not move when the first comes.
  if (news.length === 0 && problem !== undefined)
    return (
      <p className={styles.news}>
        {`The news could not be read: ${problem} `}
        <button type="button" onClick={again}>
          Try again
        </button>
      </p>
    );
  if (news.length === 0)
    return (
      <p className={styles.news}>{isRead && 'No news yet: crashes, questions and landings appear here.'}</p>
    );
  return (
    <ol className={styles.news} aria-label="News, newest first">
      {news.map(({ number, event }) => (
        <li key={number} data-kind={event.type}>
          <time dateTime={new Date(event.at).toISOString()}>{timeText(event.at)}</time>{' '}
          <span aria-hidden="true">{MARKS[event.type]}</span>{' '}
          <p>
            <Link href={`/tasks/${event.id}`}>{brief(tasks.get(event.id)?.title ?? event.id)}</Link>{' '}
            {brief(eventClause(event))}
          </p>
        </li>
      ))}
    </ol>
  );
}

/** The day only if it is not today. */
function timeText(at: number): string {
  const isToday = new Date(at).toDateString() === new Date().toDateString();
  const time = { hour: '2-digit', minute: '2-digit', second: '2-digit' } as const;
  return isToday ? new Date(at).toLocaleTimeString(undefined, time) : momentText(new Date(at).toISOString());
}

interface NewsRead {
  readonly news: readonly NumberedEvent[];
  readonly isRead: boolean;
  /** Why the events of before could not be read. */
  readonly problem: string | undefined;
  readonly again: () => void;
}

function useNews(): NewsRead {
  const { client, live } = useDesk();
  const [news, setNews] = useState<readonly NumberedEvent[]>([]);
  const [isRead, setRead] = useState(false);
  const [problem, setProblem] = useState<string>();
  const [tries, setTries] = useState(0);
  useEffect(() => {
    const add = (events: readonly NumberedEvent[]) => {
      const found = events.filter(({ event }) => MARKS[event.type] !== undefined);
      if (found.length === 0) return;
      setNews((before) => {
        const all = new Map([...before, ...found].map((one) => [one.number, one]));
        return [...all.values()].toSorted((one, other) => other.number - one.number).slice(0, MOST);
      });
    };
    const stop = live.subscribe(add);
    const before = new AbortController();
    const readOn = async () => {
      const input = { last: LOOKED_AT, limit: LOOKED_AT };
      for await (const { events } of eventPages(client, input, { signal: before.signal }))
        add(events.map((viewed) => ({ number: viewed.number, event: readEventView(viewed) })));
      setRead(true);
    };
    setProblem(undefined);
    readOn().catch((error: unknown) => {
      if (!before.signal.aborted) setProblem(error instanceof Error ? error.message : String(error));
    });
    return () => {
      stop();
      before.abort();
    };
  }, [client, live, tries]);
  return { news, isRead, problem, again: () => setTries((count) => count + 1) };
}
