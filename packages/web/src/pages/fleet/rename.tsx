import { useId, useState } from 'react';

import { shellWord } from '../../../../copse/src/kernel/shell.ts';
import { shown } from '../../../../copse/src/kernel/text.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { usePerform } from '../../parts/perform.ts';
import styles from './fleet.module.css';
import type { Node } from './machine.tsx';

interface RenameProps {
  readonly node: Node;
  readonly onClose: () => void;
}

export function Rename({ node, onClose }: RenameProps) {
  const field = useId();
  const [name, setName] = useState(node.name);
  const [isBusy, perform] = usePerform();
  return (
    <Dialog label={`Rename ${shown(node.name)}`} onClose={onClose}>
      <form
        className={styles.ask}
        onSubmit={(event) => {
          event.preventDefault();
          if (isBusy) return;
          // A refusal appears beside the page, which an open dialog would cover.
          onClose();
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
          <button type="button" onClick={onClose}>
            Leave it
          </button>
        </div>
      </form>
    </Dialog>
  );
}
