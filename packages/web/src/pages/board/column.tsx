/** One column: its cards, and what may be dropped on it. */

import { type ReactElement, memo, useCallback, useState } from 'react';
import { VList, type VListHandle } from 'virtua';

import type { TaskSummary } from '../../../../copse/src/tasks/rules/task.ts';
import styles from './board.module.css';
import { DRAGGED } from './card.tsx';
import { type Column, columnTitles } from './columns.ts';

interface ColumnProps {
  readonly column: Column;
  readonly tasks: readonly TaskSummary[];
  readonly keep: (column: Column, handle: VListHandle | null) => void;
  readonly card: (task: TaskSummary) => ReactElement;
  readonly onDrop: (task: string, column: Column, over: string | undefined) => void;
  readonly isFiltered: boolean;
}

/** In pixels: as many cards as Tab reaches before the list has drawn the next ones. */
const BUFFER = 800;

const EMPTY: Readonly<Record<Column, string>> = {
  needs: 'Nothing needs you.',
  ready: 'No task waits.',
  working: 'No agent works.',
  landing: 'Nothing is landing.',
  done: 'Nothing is done yet.',
};

export const ColumnOfCards = memo(function ColumnOfCards(props: ColumnProps) {
  const { column, tasks, keep, card, onDrop, isFiltered } = props;
  const [isOver, setOver] = useState(false);
  const handle = useCallback((list: VListHandle | null) => keep(column, list), [keep, column]);
  return (
    <section
      className={styles.column}
      aria-label={columnTitles[column]}
      data-over={isOver}
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes(DRAGGED)) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        const over =
          event.target instanceof Element
            ? event.target.closest('[data-task]')?.getAttribute('data-task')
            : null;
        onDrop(event.dataTransfer.getData(DRAGGED), column, over ?? undefined);
      }}
    >
      <h2>
        {columnTitles[column]} <span>{tasks.length}</span>
      </h2>
      {tasks.length === 0 ? (
        <p className={styles.none}>{isFiltered ? 'No task matches.' : EMPTY[column]}</p>
      ) : (
        <VList ref={handle} data={tasks} bufferSize={BUFFER}>
          {(task) => card(task)}
        </VList>
      )}
    </section>
  );
});
