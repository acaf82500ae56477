/**
 * A native dialog that is open as long as it is on the page; Escape, a click beside it and its button close it.
 * Escape and the click do not close a form with text that was not sent: it says so, and offers to throw the text away.
 */

import { type PropsWithChildren, useEffect, useRef, useState } from 'react';

import styles from './dialog.module.css';

interface DialogProps {
  readonly label: string;
  readonly onClose: () => void;
  /** Its heading is part of the content. */
  readonly isBare?: boolean;
  /** As wide as the window, for two texts side by side. */
  readonly isWide?: boolean;
}

type TextField = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

export function Dialog({
  label,
  onClose,
  isBare = false,
  isWide = false,
  children,
}: PropsWithChildren<DialogProps>) {
  const dialog = useRef<HTMLDialogElement>(null);
  /** What each field of a form held before a person typed into it. */
  const starts = useRef(new Map<TextField, string>());
  const isPressedBeside = useRef(false);
  const [isKept, setKept] = useState(false);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    // The browser prefers the first element that can have the focus at all, such as the frame of a list.
    dialog.current?.querySelector<HTMLElement>('input, textarea, select')?.focus();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  const leave = () => {
    const hasText = [...starts.current].some(
      ([field, start]) => field.isConnected && field.value.trim() !== start.trim(),
    );
    if (hasText) setKept(true);
    else onClose();
  };
  return (
    <dialog
      ref={dialog}
      className={styles.dialog}
      data-wide={isWide}
      aria-label={label}
      onClose={onClose}
      onFocus={({ target }) => {
        if (isFormField(target) && !starts.current.has(target)) starts.current.set(target, target.value);
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.nativeEvent.isComposing || event.defaultPrevented) return;
        // The browser lets a page keep a dialog open for one Escape only, unless the key itself is taken.
        event.preventDefault();
        event.stopPropagation();
        leave();
      }}
      onCancel={(event) => {
        // Gone at once: the next key belongs to the page again.
        event.preventDefault();
        leave();
      }}
      onPointerDown={({ target }) => {
        isPressedBeside.current = target === dialog.current;
      }}
      onClick={({ target }) => {
        // A selection of text that is dragged past the edge ends in a click beside it too.
        if (target === dialog.current && isPressedBeside.current) leave();
      }}
    >
      <div className={styles.content} data-bare={isBare}>
        {!isBare && (
          <header className={styles.head}>
            <h2>{label}</h2>
            <button type="button" onClick={onClose}>
              Close
            </button>
          </header>
        )}
        {children}
        {isKept && (
          <p role="alert" className={styles.kept}>
            What you typed was not sent.{' '}
            <button type="button" onClick={onClose}>
              Throw it away
            </button>
          </p>
        )}
      </div>
    </dialog>
  );
}

/** A search field is in no form: what is typed there is not worth a question. */
function isFormField(target: EventTarget): target is TextField {
  return (
    (target instanceof HTMLInputElement ||
      target instanceof HTMLTextAreaElement ||
      target instanceof HTMLSelectElement) &&
    target.form !== null
  );
}
