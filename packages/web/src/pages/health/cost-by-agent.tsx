/** Which agent used how much. Unknown dollars are never shown as zero. */

import { dollarsText, tokensText } from '../../../../copse/src/explain/rules/amounts.ts';
import { shown } from '../../../../copse/src/kernel/text.ts';
import type { OutputOf } from '../../api/operations.ts';
import styles from './health.module.css';

type Costs = OutputOf<'cost.show'>;

export function CostByAgent({ rows, total }: Pick<Costs, 'rows' | 'total'>) {
  return (
    <section className={styles.chart} aria-label="Cost by agent">
      <h2>Cost by agent</h2>
      {rows.length === 0 ? (
        <p className={styles.none}>No agent reported what it used.</p>
      ) : (
        <div className={styles.table}>
          <table>
            <thead>
              <tr>
                <th scope="col">agent</th>
                <th scope="col">dollars</th>
                <th scope="col">tokens</th>
                <th scope="col">sessions</th>
              </tr>
            </thead>
            <tbody>
              {[...rows, { ...total, agent: 'all' }].map((row) => (
                <tr key={row.agent}>
                  <th scope="row">{shown(row.agent ?? '')}</th>
                  <td>
                    {row.dollars === null ? 'unknown' : dollarsText(row.dollars)}
                    {row.isUnknownInPart && row.dollars !== null && ' or more'}
                  </td>
                  <td>{tokensText(row.tokens)}</td>
                  <td>{row.sessions}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <code className={styles.command}>copse cost --by agent</code>
    </section>
  );
}
