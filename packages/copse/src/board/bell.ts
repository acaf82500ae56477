/**
 * How processes of one machine wake each other: after a commit the writer touches a small file beside the board,
 * and the others watch that file. (SQLite's write-ahead log is no signal: it changes before the commit is visible.)
 */

import { type FSWatcher, closeSync, openSync, utimesSync, watch } from 'node:fs';

import type { Subscription } from './port.ts';

const REWATCH_MS = 100;

export function ring(bell: string): void {
  const now = new Date();
  try {
    utimesSync(bell, now, now);
  } catch {
    // The file may be missing. The commit is done anyway, and followers also poll.
    create(bell);
  }
}

/** Without a watcher (too many of them, a deleted folder) followers only poll. */
export function listen(bell: string, wake: () => void): Subscription {
  let watcher: FSWatcher | undefined;
  let stopped = false;
  const start = (): void => {
    if (stopped || !create(bell)) return;
    try {
      watcher = watch(bell, (change) => {
        // The file was replaced, and the watcher still watches the old one.
        if (change === 'rename') {
          watcher?.close();
          setTimeout(start, REWATCH_MS);
        }
        wake();
      });
      watcher.on('error', () => watcher?.close());
    } catch {
      watcher = undefined;
    }
  };
  start();
  return {
    stop() {
      stopped = true;
      watcher?.close();
      return Promise.resolve();
    },
  };
}

function create(bell: string): boolean {
  try {
    closeSync(openSync(bell, 'a'));
    return true;
  } catch {
    return false;
  }
}
