/** Asks before an operation is done whose object the page does not show. */

import { shown } from '../../../copse/src/kernel/text.ts';
import type { Confirmation } from '../api/destroying.ts';
import styles from './act.module.css';
import { Dialog } from './dialog.tsx';

interface AskFirstProps extends Confirmation {
  readonly label: string;
  readonly command: string;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

export function AskFirst({ title, text, label, command, onConfirm, onClose }: AskFirstProps) {
  return (
    <Dialog label={title} onClose={onClose}>
      <p>{shown(text)}</p>
      <code>{shown(command)}</code>
      <div className={styles.buttons}>
        <button
          type="button"
          className={styles.act}
          data-main="true"
          onClick={() => {
            onClose();
            onConfirm();
          }}
        >
          {label}
        </button>
      </div>
    </Dialog>
  );
}
