/** Where work items come from. */

import { shellWord } from '../../../../copse/src/kernel/shell.ts';
import { counted, shown } from '../../../../copse/src/kernel/text.ts';
import { spanText } from '../../../../copse/src/kernel/time.ts';
import { unreachable } from '../../../../copse/src/kernel/unreachable.ts';
import { Act } from '../../parts/act.tsx';
import { Empty, Refused } from '../../parts/page-state.tsx';
import type { Answer } from '../../store/hooks.tsx';
import { brief } from '../../parts/clipped.ts';
import { momentText } from '../../parts/moment.ts';
import { useNow } from '../../parts/now.ts';
import styles from './fleet.module.css';
import { type NextRead, nextRead } from './next-read.ts';

export function Sources({ answer }: { readonly answer: Answer<'source.list'> }) {
  const sources = answer.data?.sources;
  const now = useNow();
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
        {sources?.map(({ name, type, place, items, syncedAt, intervalMs, problem, rateLimit }) => (
          <li key={name}>
            <div className={styles.what}>
              <strong>{shown(name)}</strong>
              <span>
                {type} {shown(place)}
              </span>
            </div>
            <p>
              {counted(items, 'task')} · every {spanText(intervalMs)}
              <br />
              {nextText(nextRead({ syncedAt, intervalMs, problem, rateLimit }, now))}
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

function nextText(next: NextRead): string {
  switch (next.kind) {
    case 'by':
      return `next by ${momentText(next.at)}`;
    case 'after':
      return `next after ${momentText(next.at)}: its rate limit is used up`;
    case 'overdue':
      return `due since ${momentText(next.at)}: an orchestrator reads it`;
    case 'retry':
      return 'next soon: Copse retries after a problem';
    case 'first':
      return 'next when an orchestrator runs';
    default:
      return unreachable(next);
  }
}
