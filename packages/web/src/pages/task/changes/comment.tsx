/** A comment on a line: while it is written, and until it is sent. */

import { type RefObject, useEffect, useId, useRef, useState } from 'react';

import { shown, shownPath } from '../../../../../copse/src/kernel/text.ts';
import taskStyles from '../task.module.css';
import styles from './changes.module.css';
import { type Draft, type OpenComment, withAdded, withoutDraft } from './kept-reviews.ts';
import { type ChangeKept, useKept } from './kept.ts';
import type { ReviewedChange } from './pages.ts';

interface CommentFormProps {
  readonly task: string;
  readonly change: Pick<ReviewedChange, 'head' | 'from'>;
  /** How often the person asked for the form, and when it last took the focus: scrolling back to it does not take it. */
  readonly asks: number;
  readonly focused: RefObject<number>;
}

/** Its text is kept outside of it: the view draws only what is near the visible lines. */
export function CommentForm({ task, change, asks, focused }: CommentFormProps) {
  const { kept, keep } = useKept(task);
  const field = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  useEffect(() => {
    if (focused.current === asks) return;
    focused.current = asks;
    field.current?.focus();
  }, [asks, focused]);
  const { open } = kept;
  if (open === null) return null;
  const { place, text, head } = open;
  const keepOpen = (part: Partial<OpenComment>) =>
    keep((now) => (now.open === null ? {} : { open: { ...now.open, ...part } }));
  const keepPlace = (part: Partial<OpenComment['place']>) =>
    keepOpen({ place: { ...place, ...part }, head: change.head, from: change.from });
  const close = () => keep(() => ({ open: null }));
  return (
    <form
      className={styles.comment}
      aria-label={`Comment on ${shownPath(place.path)}`}
      onSubmit={(event) => {
        event.preventDefault();
        keep((now) => withAdded(now, crypto.randomUUID()));
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') close();
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit();
      }}
    >
      <p>
        <code>{shownPath(place.path)}</code>{' '}
        <label>
          line{' '}
          <LineField
            key={`${place.path} ${place.side}`}
            line={place.line}
            onLine={(line) =>
              keepPlace({
                line,
                endLine: place.endLine === place.line ? line : Math.max(line, place.endLine),
              })
            }
          />
        </label>{' '}
        <label>
          to{' '}
          <LineField
            key={`to ${place.path} ${place.side}`}
            line={place.endLine}
            first={place.line}
            onLine={(endLine) => keepPlace({ endLine })}
          />
        </label>
        {head !== change.head && ` of commit ${head.slice(0, 10)}`}{' '}
        <label>
          <input
            type="checkbox"
            checked={place.side === 'old'}
            onChange={({ target }) => keepPlace({ side: target.checked ? 'old' : 'new' })}
          />{' '}
          before the change
        </label>
      </p>
      <label htmlFor={id}>What should change here?</label>
      <textarea
        id={id}
        ref={field}
        rows={3}
        value={text}
        onChange={({ target }) => keepOpen({ text: target.value })}
      />
      <p className={taskStyles.others}>
        <button type="submit" className={taskStyles.button} data-main="true" title="Ctrl+Enter">
          Add the comment
        </button>
        <button type="button" className={taskStyles.button} title="Escape" onClick={close}>
          Leave it
        </button>
      </p>
    </form>
  );
}

interface LineFieldProps {
  readonly line: number;
  /** No line before it. */
  readonly first?: number;
  readonly onLine: (line: number) => void;
}

/** It can be empty while another number is typed. */
function LineField({ line, first = 1, onLine }: LineFieldProps) {
  const [text, setText] = useState<string>();
  return (
    <input
      type="number"
      min={first}
      required
      value={text ?? line}
      onChange={({ target }) => {
        setText(target.value);
        if (target.validity.valid) onLine(target.valueAsNumber);
      }}
      onBlur={() => setText(undefined)}
    />
  );
}

interface DraftNoteProps {
  readonly draft: Draft;
  readonly keep: ChangeKept;
  /** It is shown away from its file. */
  readonly isApart?: boolean;
}

export function DraftNote({ draft: { id, head, comment }, keep, isApart = false }: DraftNoteProps) {
  const { text, path, line, endLine = line } = comment;
  const lines = endLine === line ? `line ${line}` : `lines ${line} to ${endLine}`;
  return (
    <div className={styles.comment} role="note">
      <p className={taskStyles.faint}>
        {`Not sent yet · ${isApart ? `${shownPath(path)} ` : ''}${lines} of commit ${head.slice(0, 10)}`}
      </p>
      <p className={taskStyles.text}>{shown(text)}</p>
      <button
        type="button"
        className={taskStyles.button}
        aria-label={`Remove the comment on ${shownPath(path)} line ${line}`}
        onClick={() => keep((now) => withoutDraft(now, id))}
      >
        Remove
      </button>
    </div>
  );
}
