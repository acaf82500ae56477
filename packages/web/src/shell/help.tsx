/** Every key that works now, on this page. */

import { Dialog } from '../parts/dialog.tsx';
import { useKeyGroups } from '../parts/keys.ts';
import styles from './help.module.css';

const NAMES: Readonly<Record<string, string>> = {
  ArrowDown: '↓',
  ArrowUp: '↑',
  ArrowLeft: '←',
  ArrowRight: '→',
  Enter: '⏎',
};

export function Help({ onClose }: { readonly onClose: () => void }) {
  const groups = useKeyGroups();
  return (
    <Dialog label="Keys" onClose={onClose}>
      {groups.map(({ title, bindings }) => (
        <section key={title} className={styles.group}>
          <h3>{title}</h3>
          <dl>
            {bindings.map(({ keys, does }) => (
              <div key={keys[0]}>
                <dt>
                  {keys.map((key) => (
                    <kbd key={key}>{keyName(key)}</kbd>
                  ))}
                </dt>
                <dd>{does}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <section className={styles.group}>
        <h3>Everywhere</h3>
        <dl>
          <div>
            <dt>
              <kbd>Ctrl K</kbd> <kbd>⌘ K</kbd>
            </dt>
            <dd>Pages, tasks and commands</dd>
          </div>
          <div>
            <dt>
              <kbd>Esc</kbd>
            </dt>
            <dd>Close what is open</dd>
          </div>
        </dl>
      </section>
      <p className={styles.note}>
        The same in a terminal: <code>copse --help</code>
      </p>
    </Dialog>
  );
}

function keyName(key: string): string {
  return NAMES[key] ?? key;
}
