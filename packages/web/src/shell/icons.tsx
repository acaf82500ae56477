/** A small picture for each page: a bar of words alone is slow to scan. */

import styles from './shell.module.css';

const PATHS: Readonly<Record<string, string>> = {
  '/inbox': 'M2 9h3.5l1 2h3l1-2H14M2 9v3.5h12V9l-2-5.5H4z',
  '/board': 'M2 3h3.2v10H2zM6.4 3h3.2v6H6.4zM10.8 3H14v8h-3.2z',
  '/queue': 'M2 4h6M2 8h11M2 12h6M10.5 5.2 13.5 8l-3 2.8',
  '/radar': 'M8 8l4.2-4.2M8 2a6 6 0 1 0 6 6M8 5a3 3 0 1 0 3 3',
  '/plans': 'M2 2.5h5v3.5H2zM9 10h5v3.5H9zM4.5 6v5.8H9',
  '/fleet': 'M2 3h12v4H2zM2 9h12v4H2zM4.5 5h.1M4.5 11h.1',
  '/health': 'M1.5 8.5h3L6.5 4l3 8.5L11.5 8.5h3',
  '/history': 'M8 5v3.2l2.2 1.3M3 5.5A5.6 5.6 0 1 1 2.4 8.5M2.5 2.5v3.2h3.2',
  more: 'M3.5 8h.1M8 8h.1M12.5 8h.1',
};

export function Icon({ of }: { readonly of: string }) {
  return (
    <svg className={styles.icon} viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[of]} />
    </svg>
  );
}
