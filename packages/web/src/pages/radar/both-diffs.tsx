/** What both branches of a pair change in the files that they have in common, side by side. */

import { memo, useMemo } from 'react';

import { shown } from '../../../../copse/src/kernel/text.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Loading, Refused } from '../../parts/page-state.tsx';
import { useAnswer } from '../../store/hooks.tsx';
import { LOOKS, type Pair } from './looks.ts';
import { filesOfPatch } from './patch-files.ts';
import styles from './radar.module.css';

interface BothDiffsProps {
  readonly pair: Pair;
  readonly titleOf: (task: string) => string;
  readonly onClose: () => void;
}

export const BothDiffs = memo(function BothDiffs({ pair, titleOf, onClose }: BothDiffsProps) {
  const [, word] = LOOKS[pair.verdict];
  return (
    <Dialog label={`${pair.tasks.join(' and ')}: ${word}`} onClose={onClose} isWide>
      <div className={styles.both}>
        {pair.tasks.map((task) => (
          <OneDiff key={task} task={task} title={titleOf(task)} files={pair.files} />
        ))}
      </div>
    </Dialog>
  );
});

/** Enough for people; the whole diff is on the page of the task. */
const MOST_BYTES = 200_000;

interface OneDiffProps {
  readonly task: string;
  readonly title: string;
  /** Empty: all. */
  readonly files: readonly string[];
}

function OneDiff({ task, title, files }: OneDiffProps) {
  const answer = useAnswer('task.diff', { task, maxPatchBytes: MOST_BYTES }, { about: ['landing'], task });
  const { data } = answer;
  const patch = data?.patch;
  const parts = useMemo(() => {
    const wanted = new Set(files);
    return filesOfPatch(patch ?? '').filter(({ name }) => files.length === 0 || wanted.has(name));
  }, [patch, files]);
  return (
    <section className={styles.one} aria-label={`Changes of ${task}`}>
      <h3>
        <code>{task}</code> {title}
      </h3>
      <code className={styles.command}>copse diff {task}</code>
      {data === undefined && answer.error && (
        <Refused problem={answer.error} onAgain={() => void answer.refetch()} />
      )}
      {data === undefined && !answer.error && <Loading what="its changes" />}
      {data !== undefined && parts.length === 0 && <p>Its changes in these files cannot be shown as text.</p>}
      {parts.map(({ name, lines }) => (
        <div key={name} className={styles.file}>
          <h4>{shown(name)}</h4>
          <pre tabIndex={0} aria-label={`Changes in ${shown(name)}`}>
            {lines.map((line, index) => (
              <span key={index} data-mark={line[0]}>
                {shown(line)}
                {'\n'}
              </span>
            ))}
          </pre>
        </div>
      ))}
      {data?.note && <p>{data.note}</p>}
    </section>
  );
}
