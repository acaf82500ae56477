/** Which commit of a task a person was shown last. It outlives the parts of the page: their reader may come back to another commit. */

import { useCallback, useSyncExternalStore } from 'react';

const heads = new Map<string, string>();
const listeners = new Set<() => void>();

export function setReadHead(task: string, head: string): void {
  if (heads.get(task) === head) return;
  heads.set(task, head);
  for (const listener of listeners) listener();
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
