/** Assignment, accept commands, ledger, results and cost. All of it is text of people and agents, shown as text. */

import { Link } from 'wouter';

import { dollarsText, tokensText } from '../../../../copse/src/explain/rules/amounts.ts';
import { tokensOf } from '../../../../copse/src/kernel/usage.ts';
import { brief, clipped } from '../../parts/clipped.ts';
import { statusWord } from '../../parts/status-word.ts';
import { useRecords } from '../../store/hooks.tsx';
import { ArtifactEntry } from './artifact.tsx';
import type { ShownTask } from './page.tsx';
import { Since } from './since.tsx';
import styles from './task.module.css';

export function Details({ task }: { readonly task: ShownTask }) {
  const { body = '', accept, ledger, artifacts, usage, dependsOn, dependants, areas } = task;
  return (
    <div className={styles.details}>
      <section>
        <h2>Assignment</h2>
        {body === '' ? (
          <p className={styles.faint}>It has no text besides its title.</p>
        ) : (
          <pre className={styles.text}>{clipped(body)}</pre>
        )}
      </section>
      <section>
        <h2>Accept commands</h2>
        {accept.length === 0 && <p className={styles.faint}>None of its own.</p>}
        <ul>
          {accept.map((command) => (
            <li key={command}>
              <code>{brief(command)}</code>
            </li>
          ))}
        </ul>
      </section>
      <section>
        <h2>Cost</h2>
        {usage === null ? (
          <p className={styles.faint}>No agent reported usage.</p>
        ) : (
          <p>
            {tokensText(tokensOf(usage))}
            {usage.dollars !== null && ` · ${dollarsText(usage.dollars)}`}
          </p>
        )}
      </section>
      <TaskLinks title="Waits for" ids={dependsOn} />
      <TaskLinks title="Waited for by" ids={dependants} />
      {areas.length > 0 && (
        <section>
          <h2>Areas</h2>
          <p>{areas.map((area) => brief(area)).join(', ')}</p>
        </section>
      )}
      <section>
        <h2>Ledger</h2>
        {ledger.length === 0 && <p className={styles.faint}>No decision or learning was noted.</p>}
        <ul className={styles.entries}>
          {ledger.map(({ id, kind, text, at }) => (
            <li key={id}>
              <span className={styles.faint}>
                {kind} · <Since at={at} />
              </span>
              <pre className={styles.text}>{clipped(text)}</pre>
            </li>
          ))}
        </ul>
      </section>
      <section>
        <h2>Results</h2>
        {artifacts.length === 0 && <p className={styles.faint}>It has none yet.</p>}
        <ul className={styles.entries}>
          {artifacts.map((artifact) => (
            <ArtifactEntry key={artifact.id} artifact={artifact} />
          ))}
        </ul>
      </section>
    </div>
  );
}

function TaskLinks({ title, ids }: { readonly title: string; readonly ids: readonly string[] }) {
  const tasks = useRecords('task');
  if (ids.length === 0) return null;
  return (
    <section>
      <h2>{title}</h2>
      <ul>
        {ids.map((id) => {
          const task = tasks.get(id);
          return (
            <li key={id}>
              <Link href={`/tasks/${id}`} className={styles.link}>
                {brief(task?.title ?? id)}
              </Link>
              <span className={styles.faint}>
                {id}
                {task && ` · ${statusWord(task.state.status)}`}
              </span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
