/** Everything there is to know before answering. The answer is bound to what is shown here: this question, this commit. */

import { useEffect } from 'react';

import { verdictWord } from '../../../../copse/src/explain/rules/queue.ts';
import { counted, shown } from '../../../../copse/src/kernel/text.ts';
import { clipped } from '../../parts/clipped.ts';
import type { OutputOf } from '../../api/operations.ts';
import type { Problem } from '../../api/problem.ts';
import { useAnswer } from '../../store/hooks.tsx';
import type { ShownNeed } from './answering.ts';
import styles from './inbox.module.css';
import { type Reading, readingOf } from './keys.ts';
import type { Row } from './rows.ts';
import { useHolding, useTabMap } from './use-holding.ts';

export interface About {
  readonly shown: ShownNeed;
  readonly reading: Reading;
  readonly review: OutputOf<'review.show'> | undefined;
  readonly readHead: string | undefined;
  readonly onShowNewest: () => void;
  readonly problem: Problem | null;
}

export function useAbout({ key, need, isGone }: Row): About {
  const { task } = need;
  const isAsked = need.kind === 'permission' && !isGone;
  const isReviewed = need.kind === 'review' && !isGone;
  const asked = useAnswer('question.show', { task }, { about: ['session'], task, isEnabled: isAsked });
  const reviewed = useAnswer(
    'review.show',
    { task, maxPatchBytes: 1 },
    { about: ['task', 'landing'], task, isEnabled: isReviewed },
  );
  const question = isAsked ? asked.data?.question : undefined;
  // Read after the list: it may be a later question than the one that the list shows.
  const isThisOne = question?.since === need.since;
  const { refetch, isFetchedAfterMount } = reviewed;
  // A branch moves without an event, so the commit is asked for whenever the line is opened.
  useEffect(() => {
    if (isReviewed) void refetch({ cancelRefetch: false });
  }, [isReviewed, refetch]);
  const isThisTask = reviewed.data?.task.id === task;
  const review = isReviewed && isFetchedAfterMount && isThisTask ? reviewed.data : undefined;
  const { heads } = useHolding();
  const readHead = useTabMap(heads).get(key);
  const head = review?.change?.head;
  const onShowNewest = () => {
    if (head !== undefined) heads.set(new Map(heads.now).set(key, head));
  };
  useEffect(() => {
    if (readHead === undefined) onShowNewest();
  });
  const isKnown = isAsked ? isThisOne : !isReviewed || review !== undefined || reviewed.error !== null;
  const reading = readingOf({ isKnown, readHead, head });
  return {
    shown: {
      need,
      question: isThisOne ? question?.id : undefined,
      head: reading === 'moved' ? undefined : head,
    },
    reading,
    review,
    readHead,
    onShowNewest,
    problem: isGone ? null : (asked.error ?? reviewed.error),
  };
}

export function NeedDetails({ row, about }: { readonly row: Row; readonly about: About }) {
  const { need, isGone } = row;
  return (
    <>
      {!need.details.includes(need.reason) && <p>{clipped(need.reason)}</p>}
      {!need.reason.includes(need.details) && (
        <pre className={styles.details} tabIndex={0} aria-label={`What ${need.task} says`}>
          {clipped(need.details)}
        </pre>
      )}
      {need.kind === 'review' && !isGone && <ReviewFacts about={about} />}
      {about.problem && (
        <p className={styles.problem} role="alert">
          {about.problem.message}
        </p>
      )}
    </>
  );
}

const MOST_FILES = 12;

function ReviewFacts({ about }: { readonly about: About }) {
  const { review, reading, readHead, onShowNewest } = about;
  if (reading === 'moved')
    return (
      <p className={styles.problem} role="alert">
        The branch is at {review?.change?.head.slice(0, 10)} now. You read {readHead?.slice(0, 10)}.{' '}
        <button type="button" className={styles.answer} onClick={onShowNewest}>
          Show the new commit
        </button>
      </p>
    );
  if (review === undefined) return <p className={styles.facts}>Reading the change …</p>;
  const { change, target, checks, accept, uncommitted, before } = review;
  if (change === null) return <p className={styles.facts}>Its commits are not in this repository.</p>;
  const { files, inserted, deleted, conflicts, head } = change;
  return (
    <div className={styles.facts}>
      <p>
        {counted(files.length, 'file')}, <span className={styles.added}>+{inserted}</span>{' '}
        <span className={styles.removed}>−{deleted}</span> at <code>{head.slice(0, 10)}</code>, lands on{' '}
        <code>{target === null ? 'its target' : shown(target)}</code>
      </p>
      {conflicts.length > 0 && (
        <p className={styles.problem}>
          Conflicts with the target in {counted(conflicts.length, 'file')}:{' '}
          {conflicts.slice(0, 5).map(shown).join(', ')}
        </p>
      )}
      {uncommitted > 0 && (
        <p className={styles.problem}>{counted(uncommitted, 'uncommitted file')} would not land.</p>
      )}
      {before !== null && <p>{shown(before)}</p>}
      {accept.commands > 0 && (
        <p>
          {counted(accept.commands, 'accept command')}: {accept.passed ? 'passed' : 'not passed'}
        </p>
      )}
      {checks.map(({ name, verdict }) => (
        <p key={name}>
          Check {shown(name)}: {verdictWord(verdict)}
        </p>
      ))}
      <ul className={styles.files}>
        {files.slice(0, MOST_FILES).map((file) => (
          <li key={file.path}>
            <code>{shown(file.path)}</code>
          </li>
        ))}
        {files.length > MOST_FILES && <li>… and {files.length - MOST_FILES} more</li>}
      </ul>
    </div>
  );
}
