/** The line of text of an answer, and the question before one that cannot be taken back later. */

import { type KeyboardEvent, type SubmitEvent, useId, useState } from 'react';

import { type AnswerKind, answerWords } from '../../../../copse/src/explain/rules/inbox/answers.ts';
import { capitalised } from '../../../../copse/src/explain/rules/status.ts';
import { operationOf } from '../../api/operations.ts';
import { type GivenAnswer, commandOfAnswer } from './answering.ts';
import styles from './inbox.module.css';

interface AskTextProps {
  readonly answer: AnswerKind;
  readonly given: (text: string) => GivenAnswer;
  readonly onDone: (text: string) => void;
  readonly onStop: () => void;
}

export function AskText({ answer, given, onDone, onStop }: AskTextProps) {
  const [text, setText] = useState('');
  const id = useId();
  const { asks, label } = answerWords[answer];
  const isEmpty = text.trim() === '';
  const submit = (event: SubmitEvent | KeyboardEvent) => {
    event.preventDefault();
    if (!isEmpty) onDone(text.trim());
  };
  return (
    <form className={styles.ask} onSubmit={submit}>
      <label htmlFor={id}>{asks}</label>
      <textarea
        id={id}
        rows={3}
        autoFocus
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onStop();
          if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) submit(event);
        }}
      />
      <code className={styles.command}>{commandOfAnswer(given(text.trim()))}</code>
      <div className={styles.answers}>
        <button type="submit" className={styles.answer} data-main="true" aria-disabled={isEmpty}>
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
  const { title, undo } = operationOf('task.cancel').destroys ?? {};
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
        {title}? {undo}
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
