/** The time for ages, moved on once in a while for all parts of the page together. */

import { useSyncExternalStore } from 'react';

import { type Timestamp, timestamp } from '../../../copse/src/kernel/ids.ts';

const EVERY_MS = 10_000;

let now = timestamp(Date.now());
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

export function useNow(): Timestamp {
  return useSyncExternalStore(subscribe, () => now);
}

function subscribe(listener: () => void): () => void {
  // It stood still while no part was on the page; React looks at it once more after this.
  if (timer === undefined) now = timestamp(Date.now());
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = timestamp(Date.now());
    for (const one of listeners) one();
  }, EVERY_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}
