/** Whether the page follows the board. Told by words, and once more above the page while there is no connection. */

import { useEffect, useRef } from 'react';

import { useAnnounce } from '../parts/announcer.tsx';
import { useConnection, useEventNumber } from '../store/hooks.tsx';
import styles from './connection.module.css';

const TEXTS = {
  connecting: 'connecting',
  live: 'live',
  away: 'no connection',
  refused: 'not allowed in',
} as const;

const MARKS = { connecting: '◌', live: '●', away: '○', refused: '×' } as const;

export function ConnectionMark() {
  const connection = useConnection();
  const number = useEventNumber();
  return (
    <p className={styles.mark} data-connection={connection} title={`The board at event ${number}`}>
      <span aria-hidden="true" className={styles.dot}>
        {MARKS[connection]}
      </span>{' '}
      {TEXTS[connection]} · {number}
    </p>
  );
}

export function ConnectionBanner() {
  const connection = useConnection();
  const announce = useAnnounce();
  const before = useRef(connection);
  useEffect(() => {
    if (before.current === connection) return;
    if (connection === 'away') announce('No connection to the server. Trying again.');
    if (connection === 'live' && before.current === 'away') announce('Connected again.');
    before.current = connection;
  }, [connection, announce]);
  if (connection !== 'away') return null;
  return <Away />;
}

function Away() {
  const number = useEventNumber();
  return (
    <p className={styles.banner}>
      No connection to the server; trying again. You see the board at event {number}. If the server ended:{' '}
      <code>copse serve</code>
    </p>
  );
}
