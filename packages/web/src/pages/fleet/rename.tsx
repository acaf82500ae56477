import { useEffect, useId, useRef, useState } from 'react';

import { shellWord } from '../../../../copse/src/kernel/shell.ts';
import { shown } from '../../../../copse/src/kernel/text.ts';
import { usePerform } from '../../parts/perform.ts';
import styles from './fleet.module.css';
import type { Node } from './machine.tsx';

interface RenameProps {
  readonly node: Node;
  readonly onClose: () => void;
}

export function Rename({ node, onClose }: RenameProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const field = useId();
  const [name, setName] = useState(node.name);
  const [isBusy, perform] = usePerform();
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      className={styles.dialog}
      aria-label={`Rename ${shown(node.name)}`}
      onClose={onClose}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isBusy) return;
          // A refusal appears beside the page, which an open dialog would cover.
          dialog.current?.close();
          const done = () => ({ text: `The machine is called ${shown(name)} now.` });
          perform('node.rename', { node: node.id, name }, done);
        }}
      >
        <label htmlFor={field}>New name of {shown(node.name)}</label>
        <input id={field} value={name} autoComplete="off" onChange={(event) => setName(event.target.value)} />
        <code>{shown(`copse node rename ${shellWord(node.name)} ${shellWord(name)}`)}</code>
        <div className={styles.buttons}>
          <button type="submit" data-main="true" aria-disabled={isBusy}>
            Rename
          </button>
          <button type="button" onClick={() => dialog.current?.close()}>
            Leave it
          </button>
        </div>
      </form>
    </dialog>
  );
}
