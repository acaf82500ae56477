/** Buttons that ask for something before they act. */

import { type ReactNode, type RefObject, useId, useRef, useState } from 'react';

import { withCommand } from '../../parts/command-line.ts';
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
  readonly onClose?: () => void;
  /** Why it cannot be sent any more. */
  readonly refusal?: string | undefined;
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
  onClose,
  refusal,
  onSubmit,
}: DialogProps) {
  return (
    <>
      <button
        type="button"
        className={styles.button}
        data-main={isMain}
        aria-disabled={isBusy}
        {...withCommand(command)}
        onClick={() => {
          if (isBusy) return;
          onOpen?.();
          dialog.current?.showModal();
        }}
      >
        {label}
      </button>
      <dialog ref={dialog} className={styles.dialog} aria-label={title} onClose={onClose}>
        <form
          method="dialog"
          onSubmit={(event) => {
            event.preventDefault();
            if (refusal !== undefined) return;
            dialog.current?.close();
            onSubmit();
          }}
        >
          <h2>{title}</h2>
          {children}
          <code>{command}</code>
          {refusal !== undefined && <p role="alert">{refusal}</p>}
          <div className={styles.others}>
            <button
              type="submit"
              className={styles.button}
              data-main="true"
              aria-disabled={refusal !== undefined}
            >
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

interface AskTextProps extends Pick<DialogProps, 'onOpen' | 'onClose' | 'refusal'> {
  readonly label: string;
  readonly command: string;
  readonly question: string;
  readonly isMain: boolean;
  readonly isBusy: boolean;
  readonly onText: (text: string) => void;
}

export function AskText({ label, command, question, isMain, isBusy, onText, ...rest }: AskTextProps) {
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
      {...rest}
    >
      <label htmlFor={field}>{question}</label>
      <textarea id={field} rows={5} value={text} onChange={({ target }) => setText(target.value)} />
    </Dialog>
  );
}
