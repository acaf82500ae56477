/** What an agent puts out: the log of an attempt, or the terminal of the one that runs. */

import { lazy, Suspense, useState } from 'react';

import { shown } from '../../../../../copse/src/kernel/text.ts';
import { Empty, Loading } from '../../../parts/page-state.tsx';
import type { ShownTask } from '../page.tsx';
import { Log } from './log.tsx';
import type { OutputView } from './output-stream.ts';
import styles from './session.module.css';
import { TakeOverBar, useTakeOver } from './take-over.tsx';

const TerminalView = lazy(() => import('./terminal.tsx'));

export function Output({ task }: { readonly task: ShownTask }) {
  const [chosen, setChosen] = useState<string>();
  const [view, setView] = useState<OutputView>('terminal');
  const takeOver = useTakeOver(task);
  const last = task.attempts.at(-1);
  // The latest, also when another one begins, until a person chooses.
  const attempt = task.attempts.find(({ id }) => id === chosen) ?? last;
  if (attempt === undefined)
    return (
      <Empty title="No agent worked on it yet.">
        <p>Its output appears here when an attempt begins.</p>
        <code>copse orchestrate</code>
      </Empty>
    );
  const { id } = attempt;
  const hasTerminal = task.hasTerminal === true && attempt === last && attempt.endedAt === null;
  const isTerminal = hasTerminal && view === 'terminal';
  return (
    <section className={styles.output} aria-label="Output">
      <div className={styles.choice}>
        <label>
          Attempt{' '}
          <select value={id} onChange={({ target }) => setChosen(target.value)}>
            {task.attempts.map((one, at) => (
              <option key={one.id} value={one.id}>
                {`${at + 1} · ${shown(one.agent ?? 'unknown agent')} · ${timeOf(one.startedAt)} · ${one.result ?? 'running'}`}
              </option>
            ))}
          </select>
        </label>
        {hasTerminal && (
          <fieldset className={styles.views}>
            <legend className={styles.hidden}>Show its</legend>
            {VIEWS.map(([value, label]) => (
              <label key={value}>
                <input type="radio" name="view" checked={view === value} onChange={() => setView(value)} />
                {label}
              </label>
            ))}
          </fieldset>
        )}
      </div>
      {isTerminal ? (
        <>
          <TakeOverBar id={task.id} takeOver={takeOver} />
          <Suspense fallback={<Loading what="the terminal" />}>
            <TerminalView
              key={id}
              task={task.id}
              attempt={id}
              mayType={takeOver.mayType}
              onInputRefused={takeOver.onInputRefused}
              onLeave={() => takeOver.button.current?.focus()}
            />
          </Suspense>
        </>
      ) : (
        <Log key={id} task={task.id} attempt={id} />
      )}
    </section>
  );
}

const VIEWS = [
  ['terminal', 'Terminal'],
  ['log', 'Log'],
] as const;

function timeOf(iso: string): string {
  return new Date(iso).toLocaleString(undefined, { dateStyle: 'short', timeStyle: 'medium' });
}
