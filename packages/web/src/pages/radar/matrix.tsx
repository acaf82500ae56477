/** A triangle: a row and a column for each branch that meets another. Arrow keys move between its cells. */

import { type KeyboardEvent, memo, useMemo } from 'react';

import { LOOKS, type Pair } from './looks.ts';
import styles from './radar.module.css';

interface MatrixProps {
  readonly pairs: readonly Pair[];
  readonly titleOf: (task: string) => string;
  readonly onOpen: (tasks: readonly string[]) => void;
}

export const Matrix = memo(function Matrix({ pairs, titleOf, onOpen }: MatrixProps) {
  const tasks = useMemo(() => [...new Set(pairs.flatMap((pair) => pair.tasks))].toSorted(), [pairs]);
  const found = useMemo(() => new Map(pairs.map((pair) => [pair.tasks.join(' '), pair])), [pairs]);
  const columns = tasks.slice(0, -1);
  return (
    <div className={styles.scroll} role="region" aria-label="Matrix of branches" tabIndex={0}>
      <table className={styles.matrix} onKeyDown={moveByArrow}>
        <caption>
          {Object.values(LOOKS).map(([glyph, word]) => (
            <span key={word}>
              <b>{glyph}</b> {word}
            </span>
          ))}
        </caption>
        <tbody>
          {tasks.slice(1).map((row, index) => (
            <tr key={row}>
              <th scope="row">
                <code>{row}</code> <span>{titleOf(row)}</span>
              </th>
              {columns.slice(0, index + 1).map((column) => (
                <Cell
                  key={column}
                  tasks={[column, row]}
                  pair={found.get(`${column} ${row}`)}
                  onOpen={onOpen}
                />
              ))}
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <td />
            {columns.map((column) => (
              <th key={column} scope="col" title={titleOf(column)}>
                <code>{column}</code>
              </th>
            ))}
          </tr>
        </tfoot>
      </table>
    </div>
  );
});

interface CellProps {
  readonly tasks: readonly [string, string];
  readonly pair: Pair | undefined;
  readonly onOpen: (tasks: readonly string[]) => void;
}

function Cell({ tasks, pair, onOpen }: CellProps) {
  const [glyph, word] = LOOKS[pair?.verdict ?? 'apart'];
  if (pair === undefined)
    return (
      <td title={`${tasks.join(' and ')}: ${word}`}>
        <span aria-hidden="true">{glyph}</span>
        <span className={styles.hidden}>{word}</span>
      </td>
    );
  return (
    <td data-verdict={pair.verdict}>
      <button type="button" title={`${tasks.join(' and ')}: ${word}`} onClick={() => onOpen(tasks)}>
        <span aria-hidden="true">{glyph}</span>
        <span className={styles.hidden}>
          {tasks[0]} and {tasks[1]}: {word}
        </span>
      </button>
    </td>
  );
}

const STEPS: Readonly<Record<string, readonly [row: number, column: number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

/** To the next cell with a button in that direction. */
function moveByArrow(event: KeyboardEvent<HTMLTableElement>): void {
  const step = STEPS[event.key];
  const cell = (event.target as HTMLElement).closest('td');
  const row = cell?.parentElement;
  if (step === undefined || cell === null || !(row instanceof HTMLTableRowElement)) return;
  const { rows } = event.currentTarget;
  let [at, column] = [row.rowIndex + step[0], cell.cellIndex + step[1]];
  for (; rows[at]?.cells[column] !== undefined; at += step[0], column += step[1]) {
    const button = rows[at]?.cells[column]?.querySelector('button');
    if (!button) continue;
    event.preventDefault();
    button.focus();
    return;
  }
}
