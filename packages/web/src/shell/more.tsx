/** On a phone: the pages that have no place in the bar, search, keys, notifications and the connection. */

import { Link } from 'wouter';

import { Dialog } from '../parts/dialog.tsx';
import { ConnectionMark } from './connection.tsx';
import { Icon } from './icons.tsx';
import { NoticeButton } from './notices.tsx';
import { isFirst, pageEntries } from './pages.ts';
import type { Opened } from './shell.tsx';
import styles from './shell.module.css';

interface MoreProps {
  readonly onOpen: (what: Opened) => void;
  readonly onClose: () => void;
}

export function More({ onOpen, onClose }: MoreProps) {
  return (
    <Dialog label="More" onClose={onClose}>
      <nav className={styles.others} aria-label="More pages">
        {pageEntries
          .filter(({ path }) => !isFirst(path))
          .map(({ path, title }) => (
            <Link key={path} href={path} className={styles.entry}>
              <Icon of={path} />
              <span>{title}</span>
            </Link>
          ))}
      </nav>
      <div className={styles.others}>
        <button type="button" className={styles.tool} onClick={() => onOpen('palette')}>
          Search pages, tasks and commands
        </button>
        <button type="button" className={styles.tool} onClick={() => onOpen('help')}>
          Keys
        </button>
        <NoticeButton />
      </div>
      <ConnectionMark />
    </Dialog>
  );
}
