/** Buttons that ask for something before they act. */

import { type ReactNode, useId, useState } from 'react';

import { withCommand } from '../../parts/command-line.ts';
import { Dialog } from '../../parts/dialog.tsx';
import styles from './task.module.css';

/** What the owner of a button knows of its dialog: while it is open, the button must stay on the page. */
export interface Asking {
  readonly onOpen?: (() => void) | undefined;
  readonly onClose?: (() => void) | undefined;
  /** Why it cannot be sent any more. */
  readonly refusal?: string | undefined;
}

interface AskProps extends Asking {
  readonly label: string;
  readonly command: string;
  readonly title: string;
  readonly children: ReactNode;
  readonly isMain?: boolean;
  readonly isBusy: boolean;
  readonly onSubmit: () => void;
}

export function AskButton({
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
}: AskProps) {
  const [isOpen, setOpen] = useState(false);
  const close = () => {
    setOpen(false);
    onClose?.();
  };
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
          setOpen(true);
        }}
      >
        {label}
      </button>
      {isOpen && (
        <Dialog label={title} onClose={close} isBare>
          <form
            className={styles.ask}
            onSubmit={(event) => {
              event.preventDefault();
              if (refusal !== undefined) return;
              close();
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
              <button type="button" className={styles.button} onClick={close}>
                Leave it
              </button>
            </div>
          </form>
        </Dialog>
      )}
    </>
  );
}

interface TextProps extends Asking {
  readonly label: string;
  readonly command: string;
  readonly question: string;
  readonly isMain: boolean;
  readonly isBusy: boolean;
  readonly onText: (text: string) => void;
}

export function TextButton({
  label,
  command,
  question,
  isMain,
  isBusy,
  onText,
  onClose,
  ...rest
}: TextProps) {
  const [text, setText] = useState('');
  const field = useId();
  return (
    <AskButton
      label={label}
      command={command}
      title={label}
      isMain={isMain}
      isBusy={isBusy}
      onSubmit={() => onText(text)}
      onClose={() => {
        setText('');
        onClose?.();
      }}
      {...rest}
    >
      <label htmlFor={field}>{question}</label>
      <textarea id={field} rows={5} value={text} onChange={({ target }) => setText(target.value)} />
    </AskButton>
  );
}
