/** The columns of the board as they were. Its cards lead nowhere and do nothing. */

import { memo, useMemo } from 'react';
import { VList } from 'virtua';

import { shown } from '../../../../copse/src/kernel/text.ts';
import type { TaskSummary } from '../../../../copse/src/tasks/rules/task.ts';
import { statusWord } from '../../parts/status-word.ts';
import { allInColumns, columnTitles, columns } from '../board/columns.ts';
import styles from './history.module.css';

interface PastBoardProps {
  readonly tasks: ReadonlyMap<string, TaskSummary>;
}

export const PastBoard = memo(function PastBoard({ tasks }: PastBoardProps) {
  const found = useMemo(() => allInColumns(tasks), [tasks]);
  return (
    <div className={styles.board}>
      {columns.map((column) => (
        <section key={column} className={styles.column} aria-label={`${columnTitles[column]}, in the past`}>
          <h2>
            {columnTitles[column]} <span>{found[column].length}</span>
          </h2>
          {/* Without a card there is nothing to scroll to by keyboard. */}
          {found[column].length > 0 && (
            <VList className={styles.cards} tabIndex={0}>
              {found[column].map(({ id, title, state }) => (
                <article key={id} className={styles.card}>
                  <span className={styles.id}>{id}</span> {shown(title)}
                  <small>{statusWord(state.status)}</small>
                </article>
              ))}
            </VList>
          )}
        </section>
      ))}
    </div>
  );
});
