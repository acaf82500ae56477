/** How the work went: throughput, lead time, queue time, crashes, handbacks and cost, beside a pinned baseline. */

import { Suspense, lazy, useMemo, useState } from 'react';

import { PageHead } from '../../parts/page-head.tsx';
import { Empty, Loading, NotAnew, Refused } from '../../parts/page-state.tsx';
import { type Answer, useAnswer } from '../../store/hooks.tsx';
import { useToast } from '../../parts/toasts.tsx';
import { type Baseline, forgetBaseline, pinBaseline, readBaseline } from './baseline.ts';
import { type Chart, amountText, chartsOf, meanOf } from './charts.ts';
import { ChartTable } from './chart-table.tsx';
import { CostByAgent, CostByAgentAndDay } from './cost-by-agent.tsx';
import styles from './health.module.css';

const Plot = lazy(() => import('./plot.tsx'));

const SPANS = [2, 4, 8, 26] as const;
/** All events are read for it, so not after each of them. */
const LOOK_AGAIN_MS = 60_000;

export default function HealthPage() {
  const [weeks, setWeeks] = useState<number>(8);
  const often = { about: [], everyMs: LOOK_AGAIN_MS };
  const stats = useAnswer('stats.show', { weeks }, often);
  const since = stats.data?.since;
  const isEnabled = since !== undefined;
  const byDay = useAnswer('cost.show', { by: 'agent_day', since }, { ...often, isEnabled });
  const byAgent = useAnswer('cost.show', { by: 'agent', since }, { ...often, isEnabled });
  const charts = useMemo(
    () => stats.data && chartsOf(stats.data, byDay.data?.rows ?? [], new Date()),
    [stats.data, byDay.data],
  );
  const [baseline, setBaseline] = useState(readBaseline);
  const { error } = stats;
  const isEmpty = stats.data?.rows.length === 0 && stats.data.days.length === 0;
  return (
    <div className={styles.page}>
      <PageHead title="Health" className={styles.head}>
        <label>
          Weeks{' '}
          <select value={weeks} onChange={(event) => setWeeks(Number(event.target.value))}>
            {SPANS.map((span) => (
              <option key={span}>{span}</option>
            ))}
          </select>
        </label>
        <PinButtons charts={charts} weeks={weeks} baseline={baseline} onChange={setBaseline} />
        <code className={styles.command}>copse stats --weeks {weeks}</code>
      </PageHead>
      <NotAnew answers={[stats, byDay, byAgent]} />
      {error && stats.data === undefined && <Refused problem={error} onAgain={() => void stats.refetch()} />}
      {!error && stats.data === undefined && <Loading what="the events of the board" />}
      {isEmpty && (
        <Empty title={`No agent worked in the last ${weeks} weeks.`}>
          <p>Figures appear with the first attempt:</p>
          <code>copse orchestrate</code>
        </Empty>
      )}
      {charts && !isEmpty && (
        <div className={styles.charts}>
          {charts.map((chart) => (
            <ChartOf
              key={chart.id}
              chart={chart}
              baseline={baseline}
              {...(chart.id === 'cost' && { costs: byDay })}
            />
          ))}
          {byAgent.data === undefined && byAgent.error && (
            <Refused problem={byAgent.error} onAgain={() => void byAgent.refetch()} />
          )}
          {byAgent.data && <CostByAgent rows={byAgent.data.rows} total={byAgent.data.total} />}
          {byDay.data && <CostByAgentAndDay rows={byDay.data.rows} />}
        </div>
      )}
    </div>
  );
}

interface ChartProps {
  readonly chart: Chart;
  readonly baseline: Baseline | null;
  /** An answer that its figures come from besides. */
  readonly costs?: Answer<'cost.show'>;
}

function ChartOf({ chart, baseline, costs }: ChartProps) {
  const mean = meanOf(chart);
  const pinned = baseline?.means[chart.id] ?? null;
  return (
    <figure className={styles.chart}>
      <figcaption>
        <h2>{chart.title}</h2>
        <p>
          mean {mean === null ? '–' : amountText(mean, chart.unit)}
          {pinned !== null && ` · baseline ${amountText(pinned, chart.unit)}${changeText(mean, pinned)}`}
        </p>
      </figcaption>
      <div className={styles.plot}>
        {costs?.data === undefined && costs?.error ? (
          <Refused problem={costs.error} onAgain={() => void costs.refetch()} />
        ) : mean === null ? (
          <p className={styles.none}>No figures yet.</p>
        ) : (
          <Suspense fallback={null}>
            <Plot chart={chart} pinned={pinned} />
          </Suspense>
        )}
      </div>
      <ChartTable chart={chart} />
    </figure>
  );
}

/** ` (+12 %)`: against the baseline. */
function changeText(mean: number | null, pinned: number): string {
  if (mean === null || pinned === 0) return '';
  const percent = Math.round((mean / pinned - 1) * 100);
  return ` (${percent > 0 ? '+' : ''}${percent} %)`;
}

interface PinProps {
  readonly charts: readonly Chart[] | undefined;
  readonly weeks: number;
  readonly baseline: Baseline | null;
  readonly onChange: (baseline: Baseline | null) => void;
}

function PinButtons({ charts, weeks, baseline, onChange }: PinProps) {
  const toast = useToast();
  return (
    <div className={styles.buttons}>
      <button
        type="button"
        onClick={() => {
          if (charts === undefined) return;
          onChange(pinBaseline(charts, weeks, new Date()));
          toast({ text: 'These means are the baseline now. This browser keeps them.' });
        }}
      >
        {baseline === null ? 'Pin as baseline' : 'Pin anew'}
      </button>
      {baseline !== null && (
        <>
          <button
            type="button"
            onClick={() => {
              forgetBaseline();
              onChange(null);
            }}
          >
            Forget baseline
          </button>
          <span>
            baseline of {baseline.at.slice(0, 10)}, {baseline.weeks} weeks
          </span>
        </>
      )}
    </div>
  );
}
