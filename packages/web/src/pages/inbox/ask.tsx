/** The line of text of an answer, and the question before one that cannot be taken back later. */

import { type KeyboardEvent, type SubmitEvent, useId, useState } from 'react';

import { answerWords } from '../../../../copse/src/explain/rules/inbox/answers.ts';
import { capitalised } from '../../../../copse/src/explain/rules/status.ts';
import { questionBefore } from '../../api/destroying.ts';
import { type GivenAnswer, commandOfAnswer } from './answering.ts';
import type { Field } from './fields.ts';
import styles from './inbox.module.css';

interface AnswerTextProps {
  readonly field: Field;
  /** What it would answer is gone: the text can only be copied. */
  readonly isGone: boolean;
  readonly onType: (text: string) => void;
  readonly onDone: (given: GivenAnswer) => void;
  readonly onStop: () => void;
}

export function AnswerText({ field, isGone, onType, onDone, onStop }: AnswerTextProps) {
  const { about, answer } = field;
  const [text, setText] = useState(field.text);
  const id = useId();
  const { asks, label } = answerWords[answer];
  const given: GivenAnswer = { ...about, answer, text: text.trim() };
  const isOff = isGone || given.text === '';
  const submit = (event: SubmitEvent | KeyboardEvent) => {
    event.preventDefault();
    if (!isOff) onDone(given);
  };
  return (
    <form className={styles.ask} onSubmit={submit}>
      {isGone && (
        <p className={styles.problem} role="alert">
          {about.need.task} was answered elsewhere. Your text is not sent: copy it, or leave it.
        </p>
      )}
      <label htmlFor={id}>{asks}</label>
      <textarea
        id={id}
        rows={3}
        // A text of before waits until its field is chosen: `j` and `k` pass it.
        autoFocus={text === ''}
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          onType(target.value);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onStop();
          if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) submit(event);
        }}
      />
      <code className={styles.command}>{commandOfAnswer(given)}</code>
      <div className={styles.answers}>
        <button type="submit" className={styles.answer} data-main="true" aria-disabled={isOff}>
          {capitalised(label)} <kbd aria-hidden="true">⏎</kbd>
        </button>
        <button type="button" className={styles.answer} onClick={onStop}>
          Leave it <kbd aria-hidden="true">Esc</kbd>
        </button>
      </div>
    </form>
  );
}

interface AskSureProps {
  readonly given: GivenAnswer;
  readonly onDone: () => void;
  readonly onStop: () => void;
}

export function AskSure({ given, onDone, onStop }: AskSureProps) {
  const { title, text } = questionBefore('task.cancel') ?? {};
  return (
    <div
      className={styles.ask}
      role="group"
      aria-label={title}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onStop();
      }}
    >
      <p>
        {title} {text}
      </p>
      <code className={styles.command}>{commandOfAnswer(given)}</code>
      <div className={styles.answers}>
        <button type="button" className={styles.answer} data-danger="true" onClick={onDone}>
          {capitalised(answerWords.cancel.label)}
        </button>
        <button type="button" className={styles.answer} autoFocus onClick={onStop}>
          Leave it <kbd aria-hidden="true">Esc</kbd>
        </button>
      </div>
    </div>
  );
}
