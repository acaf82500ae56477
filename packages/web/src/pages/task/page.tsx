/** One task: its head with actions, then its changes, its timeline, its output and its details. */

import { type ReactNode, lazy, Suspense, useEffect, useState } from 'react';
import { Link, useParams, useSearchParams } from 'wouter';

import { shown } from '../../../../copse/src/kernel/text.ts';
import type { OutputOf } from '../../api/operations.ts';
import { endsPage } from '../../api/problem.ts';
import { Loading, Refused } from '../../parts/page-state.tsx';
import { useAnswer, useRecords } from '../../store/hooks.tsx';
import { Details } from './details.tsx';
import { Head } from './head.tsx';
import { Output } from './session/output.tsx';
import styles from './task.module.css';
import { Timeline } from './timeline/timeline.tsx';

const Changes = lazy(() => import('./changes/changes.tsx'));

export type ShownTask = OutputOf<'task.show'>;

export default function TaskPage() {
  const { task = '' } = useParams();
  return <OneTask key={task} id={task} />;
}

const LOOK_AGAIN_MS = 10_000;

function OneTask({ id }: { readonly id: string }) {
  const { data, error, refetch } = useAnswer(
    'task.show',
    { task: id },
    {
      about: ['session', 'attempt', 'landing', 'ledger', 'artifact', 'workspace'],
      task: id,
      // It names tasks that depend on this one or undo it, and their states.
      aboutAny: ['task'],
    },
  );
  const why = useAnswer(
    'task.why',
    { task: id },
    // It may wait for other tasks, and for their places in the queue. It says how long, and when its runner was heard from.
    {
      about: ['session'],
      task: id,
      aboutAny: ['task', 'landing', 'queue', 'node'],
      everyMs: LOOK_AGAIN_MS,
    },
  );
  const title = data?.title;
  const record = useRecords('task').get(id);
  useEffect(() => {
    if (title !== undefined) document.title = `${shown(title)} · Copse`;
  }, [title]);
  // Both at once: the reason would push all that is below it down.
  if (endsPage(error, data) || data === undefined || why.isPending)
    return (
      <div className={styles.page}>
        <header className={styles.head}>
          <p className={styles.id}>{shown(id)}</p>
          <h1 tabIndex={-1}>{shown(record?.title ?? id)}</h1>
        </header>
        {endsPage(error, data) ? (
          <>
            <Refused problem={error} onAgain={() => void refetch()} />
            <p>
              <Link href="/board" className={styles.link}>
                Go to the board
              </Link>
            </p>
          </>
        ) : (
          <Loading what="the task" />
        )}
      </div>
    );
  return (
    <article className={styles.page}>
      <Head task={data} why={why} />
      <Parts task={data} />
    </article>
  );
}

const parts = {
  changes: 'Changes',
  timeline: 'Timeline',
  output: 'Output',
  details: 'Details',
} as const;

type Part = keyof typeof parts;

const isPart = (text: string | null): text is Part => text !== null && Object.hasOwn(parts, text);

function Parts({ task }: { readonly task: ShownTask }) {
  const [search, setSearch] = useSearchParams();
  const wanted = search.get('part');
  // Of when the page was opened: it must not change under the eyes of its reader.
  const [usual] = useState<Part>(() => usualPart(task));
  const part = isPart(wanted) ? wanted : usual;
  const names = Object.keys(parts) as readonly Part[];
  const go = (next: Part) => setSearch({ part: next }, { replace: true });
  const move = (by: number) => {
    const next = names[(names.indexOf(part) + by + names.length) % names.length] ?? part;
    go(next);
    document.querySelector<HTMLElement>(`#tab-${next}`)?.focus();
  };
  return (
    <>
      <div className={styles.tabs} role="tablist" aria-label="Parts of the task">
        {names.map((name) => (
          <button
            key={name}
            id={`tab-${name}`}
            type="button"
            role="tab"
            aria-selected={name === part}
            aria-controls="part"
            tabIndex={name === part ? 0 : -1}
            onClick={() => go(name)}
            onKeyDown={({ key }) => {
              if (key === 'ArrowRight') move(1);
              if (key === 'ArrowLeft') move(-1);
            }}
          >
            {parts[name]}
          </button>
        ))}
      </div>
      <div id="part" role="tabpanel" aria-labelledby={`tab-${part}`} className={styles.part} data-part={part}>
        <Suspense fallback={<Loading what={parts[part].toLowerCase()} />}>{partOf(part, task)}</Suspense>
      </div>
    </>
  );
}

function usualPart({ status, worker }: ShownTask): Part {
  if (status === 'in_review' || status === 'needs_attention') return 'changes';
  return status === 'in_progress' && worker?.isByHand === false ? 'output' : 'timeline';
}

function partOf(part: Part, task: ShownTask): ReactNode {
  switch (part) {
    case 'changes':
      return <Changes task={task} />;
    case 'timeline':
      return <Timeline task={task} />;
    case 'output':
      return <Output task={task} />;
    case 'details':
      return <Details task={task} />;
    default:
      throw new Error(`The page has no part ${String(part satisfies never)}`);
  }
}
