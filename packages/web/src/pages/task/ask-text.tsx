/** Buttons that ask for something before they act. */

import { type ReactNode, type RefObject, useId, useRef, useState } from 'react';

import styles from './task.module.css';

interface DialogProps {
  readonly dialog: RefObject<HTMLDialogElement | null>;
  readonly label: string;
  readonly command: string;
  readonly title: string;
  readonly children: ReactNode;
  readonly isMain?: boolean;
  readonly isBusy: boolean;
  readonly onOpen?: () => void;
  readonly onSubmit: () => void;
}

export function Dialog({
  dialog,
  label,
  command,
  title,
  children,
  isMain,
  isBusy,
  onOpen,
  onSubmit,
}: DialogProps) {
  return (
    <>
      <button
        type="button"
        className={styles.button}
        data-main={isMain}
        aria-disabled={isBusy}
        title={command}
        onClick={() => {
          if (isBusy) return;
          onOpen?.();
          dialog.current?.showModal();
        }}
      >
        {label}
      </button>
      <dialog ref={dialog} className={styles.dialog} aria-label={title}>
        <form
          method="dialog"
          onSubmit={(event) => {
            event.preventDefault();
            dialog.current?.close();
            onSubmit();
          }}
        >
          <h2>{title}</h2>
          {children}
          <code>{command}</code>
          <div className={styles.others}>
            <button type="submit" className={styles.button} data-main="true">
              {label}
            </button>
            <button type="button" className={styles.button} onClick={() => dialog.current?.close()}>
              Leave it
            </button>
          </div>
        </form>
      </dialog>
    </>
  );
}

interface AskTextProps {
  readonly label: string;
  readonly command: string;
  readonly question: string;
  readonly isMain: boolean;
  readonly isBusy: boolean;
  readonly onText: (text: string) => void;
}

export function AskText({ label, command, question, isMain, isBusy, onText }: AskTextProps) {
  const [text, setText] = useState('');
  const dialog = useRef<HTMLDialogElement>(null);
  const field = useId();
  return (
    <Dialog
      dialog={dialog}
      label={label}
      command={command}
      title={label}
      isMain={isMain}
      isBusy={isBusy}
      onSubmit={() => onText(text)}
    >
      <label htmlFor={field}>{question}</label>
      <textarea id={field} rows={5} value={text} onChange={({ target }) => setText(target.value)} />
    </Dialog>
  );
}
