/** The task that a person looks at: the palette offers what can be done with it. */

import { useEffect, useSyncExternalStore } from 'react';

let openTask: string | undefined;
const listeners = new Set<() => void>();

function set(task: string | undefined): void {
  if (openTask === task) return;
  openTask = task;
  for (const listener of listeners) listener();
}

/** Says which task this page shows or has selected, until the page is left. */
export function useShowsTask(task: string | undefined): void {
  useEffect(() => {
    set(task);
    return () => set(undefined);
  }, [task]);
}

export function useOpenTask(): string | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => openTask,
  );
}
