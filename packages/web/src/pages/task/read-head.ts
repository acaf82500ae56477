/** Which commit of a task a person was shown last. It outlives the parts of the page: their reader may come back to another commit. */

import { useCallback, useSyncExternalStore } from 'react';

const heads = new Map<string, string>();
/** Tasks that were sent back: the next commit that is shown is a new reading. */
const ended = new Set<string>();
const listeners = new Set<() => void>();

export function setReadHead(task: string, head: string): void {
  if (heads.get(task) === head) return;
  heads.set(task, head);
  for (const listener of listeners) listener();
}

export function endReading(task: string): void {
  ended.add(task);
}

/** When a change appears: a commit that was read before stays the one that was read, unless that reading ended. */
export function beginReading(task: string, head: string): void {
  if (ended.delete(task) || !heads.has(task)) setReadHead(task, head);
}

export function useReadHead(task: string): string | undefined {
  return useSyncExternalStore(
    useCallback((listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    }, []),
    () => heads.get(task),
  );
}
