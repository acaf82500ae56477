/** Where work items come from. */

import { shellWord } from '../../../../copse/src/kernel/shell.ts';
import { counted, shown } from '../../../../copse/src/kernel/text.ts';
import { spanText } from '../../../../copse/src/kernel/time.ts';
import { Act } from '../../parts/act.tsx';
import { Empty, Refused } from '../../parts/page-state.tsx';
import type { Answer } from '../../store/hooks.tsx';
import { brief } from '../../parts/clipped.ts';
import { momentText } from '../../parts/moment.ts';
import styles from './fleet.module.css';

export function Sources({ answer }: { readonly answer: Answer<'source.list'> }) {
  const sources = answer.data?.sources;
  return (
    <section className={styles.part} aria-labelledby="sources">
      <h2 id="sources">Sources</h2>
      {sources === undefined && answer.error && (
        <Refused problem={answer.error} onAgain={() => void answer.refetch()} />
      )}
      {sources?.length === 0 && (
        <Empty title="No source is set.">
          <p>copse.yml may name issues or files that become tasks. How:</p>
          <code>copse sources --help</code>
        </Empty>
      )}
      <ul className={styles.rows}>
        {sources?.map(({ name, type, place, items, syncedAt, intervalMs, problem }) => (
          <li key={name}>
            <div className={styles.what}>
              <strong>{shown(name)}</strong>
              <span>
                {type} {shown(place)}
              </span>
            </div>
            <p>
              {counted(items, 'task')} · every {spanText(intervalMs)}
            </p>
            <p>
              {syncedAt === null ? 'never read' : `read ${momentText(syncedAt)}`}
              {problem !== null && <strong className={styles.problem}> ✗ {brief(problem)}</strong>}
            </p>
            <div className={styles.buttons}>
              <Act
                name="source.sync"
                input={{ sources: [name] }}
                label="Read now"
                command={`copse sources sync ${shellWord(name)}`}
                done={({ sources: [read] }) =>
                  read !== undefined && 'problem' in read
                    ? { text: `${name}: ${shown(read.problem)}`, isProblem: true }
                    : {
                        text: `${name} has ${counted(read?.seen ?? 0, 'item')}; ${read?.steps.length ?? 0} changed.`,
                      }
                }
                onDone={() => void answer.refetch()}
              />
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
