/** Which live branches conflict or change the same files, as a matrix and as a list of pairs. */

import { useCallback, useMemo, useState } from 'react';

import { counted, shown } from '../../../../copse/src/kernel/text.ts';
import { PageHead } from '../../parts/page-head.tsx';
import { Empty, Loading, NotAnew, Refused } from '../../parts/page-state.tsx';
import { useAnswer, useRecords } from '../../store/hooks.tsx';
import { BothDiffs } from './both-diffs.tsx';
import type { Pair, Radar } from './looks.ts';
import { Matrix } from './matrix.tsx';
import { Pairs } from './pairs.tsx';
import styles from './radar.module.css';

/** A branch moves without an event. */
const LOOK_AGAIN_MS = 15_000;

export default function RadarPage() {
  const answer = useAnswer('radar.show', {}, { about: ['landing'], everyMs: LOOK_AGAIN_MS });
  const radar = answer.data;
  return (
    <div className={styles.page}>
      <PageHead title="Radar" />
      <NotAnew answers={[answer]} />
      {radar === undefined && answer.error && (
        <Refused problem={answer.error} onAgain={() => void answer.refetch()} />
      )}
      {radar === undefined && !answer.error && <Loading what="the branches" />}
      {radar !== undefined && <Seen radar={radar} />}
    </div>
  );
}

function Seen({ radar }: { readonly radar: Radar }) {
  const { branches, pairs, omitted } = radar;
  const [opened, setOpened] = useState<readonly string[]>();
  const titleOf = useTitles(pairs);
  const close = useCallback(() => setOpened(undefined), []);
  const pair = opened && pairs.find(({ tasks }) => tasks.join(' ') === opened.join(' '));
  if (branches.length < 2)
    return (
      <Empty
        title={
          branches.length === 0
            ? 'No unfinished task has a branch.'
            : 'Only one unfinished task has a branch.'
        }
      >
        <p>Two branches that will conflict are shown here before one of them lands. Start work:</p>
        <code>copse orchestrate</code>
      </Empty>
    );
  return (
    <>
      <p className={styles.summary}>{summaryOf(radar)}</p>
      {pairs.length === 0 ? (
        <Empty title="No two branches change the same files.">
          <p>{counted(branches.length, 'branch', 'es')} compared, down to the file.</p>
        </Empty>
      ) : (
        <>
          <Matrix pairs={pairs} titleOf={titleOf} onOpen={setOpened} />
          <Pairs pairs={pairs} titleOf={titleOf} onOpen={setOpened} />
        </>
      )}
      {omitted > 0 && (
        <p className={styles.summary}>
          {counted(omitted, 'more pair')} with less in common. All of one task:{' '}
          <code>copse radar &lt;task&gt;</code>
        </p>
      )}
      {pair && <BothDiffs pair={pair} titleOf={titleOf} onClose={close} />}
    </>
  );
}

/** The same function as long as the titles are the same: other changes of tasks draw nothing anew. */
function useTitles(pairs: Radar['pairs']): (task: string) => string {
  const tasks = useRecords('task');
  const named = new Set(pairs.flatMap((pair) => pair.tasks));
  const text = JSON.stringify([...named].map((task) => [task, shown(tasks.get(task)?.title ?? '')]));
  return useMemo(() => {
    const titles = new Map(JSON.parse(text) as readonly (readonly [string, string])[]);
    return (task) => titles.get(task) ?? '';
  }, [text]);
}

function summaryOf({ branches, pairs }: Radar): string {
  const count = (verdict: Pair['verdict']) => pairs.filter((pair) => pair.verdict === verdict).length;
  return [
    `${counted(branches.length, 'branch', 'es')} of unfinished tasks`,
    counted(count('conflict'), 'conflict'),
    counted(count('overlap'), 'overlap'),
    ...(count('pending') > 0 ? [`${count('pending')} not compared yet`] : []),
  ].join(' · ');
}
