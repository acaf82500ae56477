/** One line of the inbox; the selected one shows everything there is to know, and its answers. */

import { memo, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';

import { age } from '../../../../copse/src/explain/rules/amounts.ts';
import {
  type AnswerKind,
  answerFor,
  answerWords,
  answersTo,
  keyOf,
  needText,
} from '../../../../copse/src/explain/rules/inbox/answers.ts';
import { capitalised } from '../../../../copse/src/explain/rules/status.ts';
import { timestamp } from '../../../../copse/src/kernel/ids.ts';
import { counted, shown } from '../../../../copse/src/kernel/text.ts';
import { useNow } from '../../parts/now.ts';
import { useToast } from '../../parts/toasts.tsx';
import { type GivenAnswer, type Need, type ShownNeed, commandOfAnswer } from './answering.ts';
import { AskText, AskSure } from './ask.tsx';
import { NeedDetails, useAbout } from './details.tsx';
import { brief } from '../../parts/clipped.ts';
import styles from './inbox.module.css';

interface NeedRowProps {
  readonly need: Need;
  readonly isSelected: boolean;
  readonly onSelect: () => void;
  readonly onAnswer: (given: GivenAnswer) => void;
  readonly pressed: { readonly key: string; readonly at: number } | undefined;
}

const KIND_MARKS = {
  permission: '?',
  question: '?',
  review: '✓',
  attention: '!',
  failed: '×',
  waiting: '…',
  landing: '⇥',
  dependency: '⊘',
} as const satisfies Record<Need['kind'], string>;

export const NeedRow = memo(function NeedRow(props: NeedRowProps) {
  const { need, isSelected, onSelect } = props;
  const now = useNow();
  const [, go] = useLocation();
  const facts = [
    age(timestamp(Date.parse(need.since)), now),
    ...(need.agent === null ? [] : [shown(need.agent)]),
    ...(need.unblocks === 0 ? [] : [`unblocks ${counted(need.unblocks, 'task')}`]),
  ];
  return (
    <article className={styles.need} data-selected={isSelected} data-kind={need.kind}>
      <button
        type="button"
        className={styles.row}
        data-key={keyOf(need)}
        aria-expanded={isSelected}
        onClick={onSelect}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !isSelected) return;
          event.preventDefault();
          go(`/tasks/${need.task}`);
        }}
      >
        <span className={styles.mark} aria-hidden="true">
          {KIND_MARKS[need.kind]}
        </span>
        <span className={styles.title}>{shown(need.title)}</span>
        <span className={styles.about}>
          <span className={styles.id}>{need.task}</span> {needText(need)} · {facts.join(' · ')}
        </span>
        {!isSelected && <span className={styles.reason}>{brief(need.reason)}</span>}
      </button>
      {isSelected && <OpenNeed {...props} />}
    </article>
  );
});

function OpenNeed({ need, onAnswer, pressed }: NeedRowProps) {
  const about = useAbout(need);
  const toast = useToast();
  const [, go] = useLocation();
  const [asking, setAsking] = useState<AnswerKind>();
  const row = useRef<HTMLDivElement>(null);
  const stop = () => {
    setAsking(undefined);
    row.current?.closest('article')?.querySelector('button')?.focus();
  };
  const given = (answer: AnswerKind, text = ''): GivenAnswer => ({ ...about.shown, answer, text });
  const choose = (answer: AnswerKind) => {
    if (!about.isReady) toast({ text: `${need.task} is still being read. Try again in a moment.` });
    else if (answer === 'approve' && need.kind === 'review' && about.shown.head === undefined)
      toast({
        text: `The change of ${need.task} cannot be shown, so it cannot be approved here.`,
        isProblem: true,
      });
    else if (answerWords[answer].asks !== undefined || answer === 'cancel') setAsking(answer);
    else onAnswer(given(answer));
  };
  const seen = useRef(pressed?.at);
  useEffect(() => {
    if (pressed === undefined || pressed.at === seen.current) return;
    seen.current = pressed.at;
    if (pressed.key === 'o') return go(`/tasks/${need.task}`);
    const answer = answerFor(need, pressed.key);
    if (answer === undefined) toast({ text: `${pressed.key} is no answer to ${need.task}.` });
    else choose(answer);
  });
  return (
    <div className={styles.open} ref={row}>
      <NeedDetails need={need} about={about} />
      {asking === undefined && (
        <Answers need={need} shown={about.shown} isReady={about.isReady} onChoose={choose} />
      )}
      {asking === 'cancel' && (
        <AskSure given={given('cancel')} onDone={() => onAnswer(given('cancel'))} onStop={stop} />
      )}
      {asking !== undefined && asking !== 'cancel' && (
        <AskText
          given={(text) => given(asking, text)}
          answer={asking}
          onDone={(text) => onAnswer(given(asking, text))}
          onStop={stop}
        />
      )}
    </div>
  );
}

interface AnswersProps {
  readonly need: Need;
  readonly shown: ShownNeed;
  readonly isReady: boolean;
  readonly onChoose: (answer: AnswerKind) => void;
}

function Answers({ need, shown: about, isReady, onChoose }: AnswersProps) {
  const answers = [...answersTo(need)];
  return (
    <div className={styles.answers}>
      {answers.map(([key, answer], index) => (
        <button
          key={key}
          type="button"
          className={styles.answer}
          data-main={index === 0 && answer !== 'cancel'}
          data-danger={answer === 'cancel'}
          aria-disabled={!isReady}
          title={commandOfAnswer({ ...about, answer, text: '' })}
          onClick={() => onChoose(answer)}
        >
          {capitalised(answerWords[answer].label)} <kbd aria-hidden="true">{key}</kbd>
        </button>
      ))}
      <Link href={`/tasks/${need.task}`} className={styles.answer}>
        Open <kbd aria-hidden="true">⏎</kbd>
      </Link>
      <code className={styles.command}>{need.command}</code>
    </div>
  );
}
