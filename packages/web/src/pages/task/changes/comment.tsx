/** A comment on a line: while it is written, and until it is sent. */

import { useEffect, useId, useRef, useState } from 'react';

import { shown } from '../../../../../copse/src/kernel/text.ts';
import taskStyles from '../task.module.css';
import styles from './changes.module.css';
import type { Place } from './diff-view.tsx';
import type { Draft } from './kept.ts';
import { shownPath } from './patch.ts';

interface CommentFormProps {
  readonly place: Place;
  readonly onPlace: (place: Place) => void;
  readonly onCancel: () => void;
  readonly onText: (text: string) => void;
}

export function CommentForm({ place, onPlace, onCancel, onText }: CommentFormProps) {
  const [text, setText] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const { path, line, endLine, side } = place;
  useEffect(() => field.current?.focus(), []);
  return (
    <form
      className={styles.comment}
      aria-label={`Comment on ${shownPath(path)}`}
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '') onText(text);
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onCancel();
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit();
      }}
    >
      <p>
        <code>{shownPath(path)}</code>{' '}
        <label>
          line{' '}
          <input
            type="number"
            min={1}
            value={line}
            onChange={({ target }) => {
              const next = Math.max(1, target.valueAsNumber || 1);
              onPlace({ ...place, line: next, endLine: next });
            }}
          />
        </label>
        {endLine !== line && ` to ${endLine}`}{' '}
        <label>
          <input
            type="checkbox"
            checked={side === 'old'}
            onChange={({ target }) => onPlace({ ...place, side: target.checked ? 'old' : 'new' })}
          />{' '}
          before the change
        </label>
      </p>
      <label htmlFor={id}>What should change here?</label>
      <textarea id={id} ref={field} rows={3} value={text} onChange={({ target }) => setText(target.value)} />
      <p className={taskStyles.others}>
        <button type="submit" className={taskStyles.button} data-main="true" title="Ctrl+Enter">
          Add the comment
        </button>
        <button type="button" className={taskStyles.button} title="Escape" onClick={onCancel}>
          Leave it
        </button>
      </p>
    </form>
  );
}

export function DraftNote({ draft, onRemove }: { readonly draft: Draft; readonly onRemove: () => void }) {
  const { text, path, line } = draft.comment;
  return (
    <div className={styles.comment} role="note">
      <p className={taskStyles.faint}>{`Not sent yet · line ${line} of commit ${draft.head.slice(0, 10)}`}</p>
      <p className={taskStyles.text}>{shown(text)}</p>
      <button
        type="button"
        className={taskStyles.button}
        aria-label={`Remove the comment on ${shownPath(path)} line ${line}`}
        onClick={onRemove}
      >
        Remove
      </button>
    </div>
  );
}
