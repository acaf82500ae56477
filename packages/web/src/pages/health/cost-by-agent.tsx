/** Which agent used how much, in all and on each day. Unknown dollars are never shown as zero. */

import { dollarsText, tokensText } from '../../../../copse/src/explain/rules/amounts.ts';
import { shown } from '../../../../copse/src/kernel/text.ts';
import type { OutputOf } from '../../api/operations.ts';
import { costTable } from './charts.ts';
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
                  <td>{priceText(row)}</td>
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

export function CostByAgentAndDay({ rows: costs }: Pick<Costs, 'rows'>) {
  const { agents, rows } = costTable(costs);
  if (rows.length === 0) return null;
  return (
    <section className={styles.chart} aria-label="Cost by agent and day">
      <h2>Cost by agent and day</h2>
      <div className={styles.table}>
        <table>
          <thead>
            <tr>
              <th scope="col">day</th>
              {agents.map((agent) => (
                <th key={agent} scope="col">
                  {shown(agent)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ day, cells }) => (
              <tr key={day}>
                <th scope="row">{day}</th>
                {cells.map((cell, index) => (
                  <td key={agents[index]}>{cell === undefined ? '–' : priceText(cell)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <code className={styles.command}>copse cost --by agent_day</code>
    </section>
  );
}

function priceText({
  dollars,
  isUnknownInPart,
}: Pick<Costs['total'], 'dollars' | 'isUnknownInPart'>): string {
  if (dollars === null) return 'unknown';
  return `${dollarsText(dollars)}${isUnknownInPart ? ' or more' : ''}`;
}
