/** One line of the inbox; the selected one shows everything there is to know, and its answers. */

import { memo, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';

import { age } from '../../../../copse/src/explain/rules/amounts.ts';
import {
  type AnswerKind,
  answerWords,
  answersTo,
  keyOf,
  needText,
} from '../../../../copse/src/explain/rules/inbox/answers.ts';
import { capitalised } from '../../../../copse/src/explain/rules/status.ts';
import { timestamp } from '../../../../copse/src/kernel/ids.ts';
import { counted, shown } from '../../../../copse/src/kernel/text.ts';
import { withCommand } from '../../parts/command-line.ts';
import { useNow } from '../../parts/now.ts';
import { useToast } from '../../parts/toasts.tsx';
import { type GivenAnswer, type Need, type ShownNeed, commandOfAnswer } from './answering.ts';
import { AnswerText, AskSure } from './ask.tsx';
import { NeedDetails, useAbout } from './details.tsx';
import { withField, withText, withoutField } from './fields.ts';
import { brief } from '../../parts/clipped.ts';
import styles from './inbox.module.css';
import { type Choice, decideChoice, decidePress } from './keys.ts';
import type { Row } from './rows.ts';
import { useHolding, useTabMap } from './use-holding.ts';

interface NeedRowProps {
  readonly row: Row;
  readonly isSelected: boolean;
  readonly onSelect: () => void;
  /** Its text was left, and nothing else is left of it. */
  readonly onLeave: () => void;
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
  const { row, isSelected, onSelect } = props;
  const { need, isGone } = row;
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
          <span className={styles.id}>{need.task}</span> {isGone ? 'was answered elsewhere' : needText(need)}{' '}
          · {facts.join(' · ')}
        </span>
        {!isSelected && <span className={styles.reason}>{brief(need.reason)}</span>}
      </button>
      {isSelected && <OpenNeed {...props} />}
    </article>
  );
});

function OpenNeed({ row, onAnswer, onLeave, pressed }: NeedRowProps) {
  const { key, need, isGone } = row;
  const about = useAbout(row);
  const toast = useToast();
  const [, go] = useLocation();
  const { fields } = useHolding();
  const field = useTabMap(fields).get(key);
  const [isCancelling, setCancelling] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  const stop = () => {
    setCancelling(false);
    fields.set(withoutField(fields.now, key));
    if (isGone) onLeave();
    else place.current?.closest('article')?.querySelector('button')?.focus();
  };
  const { shown: aboutShown, reading } = about;
  const facts = { row, reading, head: aboutShown.head };
  const act = (choice: Choice) => {
    if (choice.kind === 'said') toast(choice.toast);
    else if (choice.kind === 'given') onAnswer({ ...aboutShown, answer: choice.answer, text: '' });
    else if (choice.answer === 'cancel') setCancelling(true);
    else fields.set(withField(fields.now, aboutShown, choice.answer));
  };
  const seen = useRef(pressed?.at);
  useEffect(() => {
    if (pressed === undefined || pressed.at === seen.current) return;
    seen.current = pressed.at;
    if (pressed.key === 'o') return go(`/tasks/${need.task}`);
    const choice = decidePress(pressed.key, { ...facts, isTyped: field !== undefined });
    if (choice.kind === 'back') place.current?.querySelector('textarea')?.focus();
    else act(choice);
  });
  return (
    <div className={styles.open} ref={place}>
      <NeedDetails row={row} about={about} />
      {field === undefined && !isCancelling && (
        <Answers
          need={need}
          shown={aboutShown}
          isReady={reading === 'ready'}
          onChoose={(answer) => act(decideChoice(answer, facts))}
        />
      )}
      {field === undefined && isCancelling && (
        <AskSure
          given={{ ...aboutShown, answer: 'cancel', text: '' }}
          onDone={() => onAnswer({ ...aboutShown, answer: 'cancel', text: '' })}
          onStop={stop}
        />
      )}
      {field !== undefined && (
        <AnswerText
          field={field}
          isGone={isGone}
          onType={(text) => fields.set(withText(fields.now, key, text))}
          onDone={onAnswer}
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
          {...withCommand(commandOfAnswer({ ...about, answer, text: '' }))}
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
