/** One task on the board. */

import { type DragEvent, Suspense, lazy, memo } from 'react';
import { Link } from 'wouter';

import type { Session } from '../../../../copse/src/agents/rules/session/session.ts';
import { age, dollarsText } from '../../../../copse/src/explain/rules/amounts.ts';
import { oneLine } from '../../../../copse/src/explain/rules/reason.ts';
import type { Timestamp } from '../../../../copse/src/kernel/ids.ts';
import { shown } from '../../../../copse/src/kernel/text.ts';
import { formatPriority } from '../../../../copse/src/tasks/rules/priority.ts';
import type { TaskStatus, TaskSummary } from '../../../../copse/src/tasks/rules/task.ts';
import { brief } from '../../parts/clipped.ts';
import { statusWord } from '../../parts/status-word.ts';
import styles from './card.module.css';
import { type CardFacts, type RadarMark, isAsking, nextOf, phaseOf, whyOf } from './facts.ts';

/** Its words come after the first paint anyway. */
const NextStep = lazy(() => import('./next-step.tsx'));

export interface CardProps {
  readonly task: TaskSummary;
  readonly session: Session | undefined;
  readonly agent: string | null;
  readonly facts: CardFacts;
  readonly now: Timestamp;
  readonly isRow?: boolean;
}

/** Why it waits is told by an answer that comes after the records. */
function isLater(status: TaskStatus): boolean {
  return status !== 'done' && status !== 'cancelled';
}

/** The column says it. */
const isSaid: Readonly<Record<TaskStatus, boolean>> = {
  pending: false,
  ready: true,
  in_progress: true,
  paused: false,
  stuck: false,
  in_review: false,
  landing: true,
  needs_attention: false,
  done: true,
  failed: false,
  cancelled: false,
};

export const DRAGGED = 'application/x-copse-task';

export const Card = memo(function Card({ task, session, agent, facts, now, isRow = false }: CardProps) {
  const phase = phaseOf(session);
  const dollars = session?.usage.dollars ?? null;
  const next = nextOf(task, facts, session);
  const why = brief(oneLine(whyOf(task, facts, session, now)));
  const { id, title, state, priority } = task;
  const word = isAsking(session)
    ? 'asks you'
    : isRow || !isSaid[state.status]
      ? statusWord(state.status)
      : null;
  return (
    <article
      className={isRow ? styles.row : styles.card}
      data-task={id}
      data-status={state.status}
      data-asks={isAsking(session)}
      draggable
      onDragStart={(event: DragEvent) => event.dataTransfer.setData(DRAGGED, id)}
    >
      <p className={styles.head}>
        <span className={styles.id}>{id}</span>
        {priority !== 3 && <span title="Priority; p5 is the most urgent">{formatPriority(priority)}</span>}
        {word !== null && <span className={styles.status}>{word}</span>}
        {facts.radar && <Radar {...facts.radar} />}
        <span className={styles.age} title={new Date(state.since).toLocaleString()}>
          {age(state.since, now)}
        </span>
      </p>
      <Link href={`/tasks/${id}`} className={styles.title} data-card={id} draggable={false}>
        {shown(title)}
      </Link>
      {(agent !== null || phase !== null || dollars !== null) && (
        <p className={styles.facts}>
          {[agent === null ? null : shown(agent), phase, dollars === null ? null : dollarsText(dollars)]
            .filter(Boolean)
            .join(' · ')}
        </p>
      )}
      {(why !== '' || isLater(state.status)) && <p className={styles.why}>{why}</p>}
      {next !== null && (
        <div className={styles.next}>
          <Suspense fallback={<p className={styles.coming} />}>
            <NextStep command={next} task={task} session={session} />
          </Suspense>
        </div>
      )}
    </article>
  );
});

/** A glyph and words: never a colour alone. */
function Radar({ kind, others }: RadarMark) {
  const mark = `${kind === 'conflict' ? '≠' : '~'} ${others.length}`;
  const text =
    kind === 'conflict'
      ? `conflicts with ${others.join(', ')}`
      : `changes the same files as ${others.join(', ')}`;
  return (
    <Link
      href="/radar"
      className={styles.radar}
      data-kind={kind}
      title={text}
      // What is seen is part of what is heard.
      aria-label={`${mark}: ${text}`}
      draggable={false}
    >
      {mark}
    </Link>
  );
}
