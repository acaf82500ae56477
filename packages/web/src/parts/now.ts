/** The time for ages, moved on once in a while for all parts of the page together. */

import { useSyncExternalStore } from 'react';

import { type Timestamp, timestamp } from '../../../copse/src/kernel/ids.ts';

const EVERY_MS = 10_000;

/** Oftener for what is drawn on an axis of time. */
export function useNow(everyMs = EVERY_MS): Timestamp {
  const clock = clockOf(everyMs);
  return useSyncExternalStore(clock.subscribe, clock.now);
}

interface Clock {
  readonly subscribe: (listener: () => void) => () => void;
  readonly now: () => Timestamp;
}

const clocks = new Map<number, Clock>();

function clockOf(everyMs: number): Clock {
  const known = clocks.get(everyMs);
  if (known !== undefined) return known;
  const made = newClock(everyMs);
  clocks.set(everyMs, made);
  return made;
}

function newClock(everyMs: number): Clock {
  let now = timestamp(Date.now());
  const listeners = new Set<() => void>();
  let timer: ReturnType<typeof setInterval> | undefined;
  return {
    now: () => now,
    subscribe: (listener) => {
      // It stood still while no part was on the page; React looks at it once more after this.
      if (timer === undefined) now = timestamp(Date.now());
      listeners.add(listener);
      timer ??= setInterval(() => {
        now = timestamp(Date.now());
        for (const one of listeners) one();
      }, everyMs);
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
  };
}
