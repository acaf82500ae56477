/** A native dialog that is open as long as it is on the page; Escape, a click beside it and its button close it. */

import { type PropsWithChildren, useEffect, useRef } from 'react';

import styles from './dialog.module.css';

interface DialogProps {
  readonly label: string;
  readonly onClose: () => void;
  /** Its heading is part of the content. */
  readonly isBare?: boolean;
}

export function Dialog({ label, onClose, isBare = false, children }: PropsWithChildren<DialogProps>) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    // The browser prefers the first element that can have the focus at all, such as the frame of a list.
    dialog.current?.querySelector<HTMLElement>('input, textarea, select')?.focus();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      className={styles.dialog}
      aria-label={label}
      onClose={onClose}
      onCancel={(event) => {
        // Gone at once: the next key belongs to the page again.
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
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
      </div>
    </dialog>
  );
}
