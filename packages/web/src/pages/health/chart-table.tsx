/** The text form of a chart. Days without any figure are left out. */

import { type Chart, amountText } from './charts.ts';
import styles from './health.module.css';

export function ChartTable({ chart: { title, days, lines, unit } }: { readonly chart: Chart }) {
  const rows = days
    .map((day, index) => ({ day, values: lines.map(({ values }) => values[index] ?? null) }))
    .filter(({ values }) => values.some((value) => value !== null && value !== 0))
    .toReversed();
  return (
    <details className={styles.table}>
      <summary>As a table</summary>
      <table>
        <caption className={styles.hidden}>{title}</caption>
        <thead>
          <tr>
            <th scope="col">day</th>
            {lines.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ day, values }) => (
            <tr key={day}>
              <th scope="row">{day}</th>
              {values.map((value, index) => (
                <td key={lines[index]?.name}>{value === null ? '–' : amountText(value, unit)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
