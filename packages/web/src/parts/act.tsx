/** A button for an operation. It shows the command that does the same, and asks first where the operation destroys. */

import { useRef } from 'react';

import { type Confirmation, questionBefore } from '../api/destroying.ts';
import type { InputOf, OperationName, OutputOf } from '../api/operations.ts';
import { shown } from '../../../copse/src/kernel/text.ts';
import { usePerform } from './perform.ts';
import styles from './act.module.css';
import { withCommand } from './command-line.ts';
import type { Toast } from './toasts.tsx';

interface ActProps<N extends OperationName> {
  readonly name: N;
  readonly input: InputOf<N>;
  readonly label: string;
  /** The whole command line that does the same. */
  readonly command: string;
  readonly done: (output: OutputOf<N>) => Toast;
  readonly onDone?: () => void;
  /** Asked before it is done, also where the operation destroys nothing. */
  readonly asksFirst?: Confirmation | undefined;
  readonly isMain?: boolean;
  /** The command is part of the button, as wide as its place. */
  readonly isWide?: boolean;
}

export function Act<N extends OperationName>(props: ActProps<N>) {
  const { name, input, label, command, isMain = false, isWide = false } = props;
  const first = props.asksFirst ?? questionBefore(name);
  const [isBusy, perform] = usePerform();
  const question = useRef<HTMLDialogElement>(null);
  const act = () => perform(name, input, props.done, { onDone: props.onDone });
  return (
    <>
      <button
        type="button"
        className={styles.act}
        data-main={isMain}
        data-wide={isWide}
        aria-disabled={isBusy}
        {...withCommand(command)}
        onClick={() => {
          if (isBusy) return;
          if (first) question.current?.showModal();
          else act();
        }}
      >
        {isWide ? <WithCommand label={label} command={command} /> : label}
      </button>
      {first && (
        <dialog ref={question} className={styles.question} aria-label={first.title}>
          <form
            method="dialog"
            onSubmit={(event) => {
              event.preventDefault();
              question.current?.close();
              act();
            }}
          >
            <p>{first.title}</p>
            <p>{shown(first.text)}</p>
            <code>{shown(command)}</code>
            <div className={styles.buttons}>
              <button type="submit" className={styles.act} data-main="true">
                {label}
              </button>
              <button type="button" className={styles.act} onClick={() => question.current?.close()}>
                Leave it
              </button>
            </div>
          </form>
        </dialog>
      )}
    </>
  );
}

/** The description of the button has the command, so its name does not need it. */
export function WithCommand({ label, command }: { readonly label: string; readonly command: string }) {
  return (
    <>
      <span>{label}</span>
      <code aria-hidden="true">{shown(command)}</code>
    </>
  );
}
