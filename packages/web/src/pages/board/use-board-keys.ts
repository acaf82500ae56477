/** Keys of the board: move between cards, find, add, and what can be done with the card that has the focus. */

import { useEffect, useState } from 'react';

import type { TaskSummary } from '../../../../copse/src/tasks/rules/task.ts';
import { type KeyBinding, useKeys } from '../../parts/keys.ts';
import { useShowsTask } from '../../parts/open-task.ts';
import { type TasksInColumns, columns } from './columns.ts';

interface BoardKeys {
  readonly found: TasksInColumns;
  /** Of the list view. */
  readonly inList: readonly TaskSummary[] | undefined;
  readonly scrollTo: (list: string, index: number) => void;
  readonly search: () => void;
  readonly add: () => void;
  readonly toggleView: () => void;
}

export function useBoardKeys({ found, inList, scrollTo, search, add, toggleView }: BoardKeys): void {
  useShowsTask(useFocusedTask());
  const go = (list: string, tasks: readonly TaskSummary[], index: number) => {
    const at = Math.max(0, Math.min(tasks.length - 1, index));
    const task = tasks[at];
    if (task === undefined) return;
    scrollTo(list, at);
    focusCard(task.id);
  };
  const move = (across: number, down: number) => {
    const id = focusedTask();
    if (inList) {
      const at = inList.findIndex((task) => task.id === id);
      return go('list', inList, at === -1 ? 0 : at + down);
    }
    const from = columns.find((column) => found[column].some((task) => task.id === id));
    if (from === undefined) {
      const first = columns.find((column) => found[column].length > 0);
      return first === undefined ? undefined : go(first, found[first], 0);
    }
    const index = found[from].findIndex((task) => task.id === id);
    if (across === 0) return go(from, found[from], index + down);
    const others = columns.filter((column) => column === from || found[column].length > 0);
    const to = others[others.indexOf(from) + across];
    return to === undefined ? undefined : go(to, found[to], index);
  };
  const bindings: readonly KeyBinding[] = [
    { keys: ['j', 'ArrowDown'], does: 'Next card', run: () => move(0, 1), isMove: true },
    { keys: ['k', 'ArrowUp'], does: 'Card before', run: () => move(0, -1), isMove: true },
    { keys: ['l', 'ArrowRight'], does: 'Next column', run: () => move(1, 0), isMove: true },
    { keys: ['h', 'ArrowLeft'], does: 'Column before', run: () => move(-1, 0), isMove: true },
    { keys: ['/'], does: 'Find by id or title', run: search },
    { keys: ['n'], does: 'Add a task', run: add },
    { keys: ['v'], does: 'Columns or list', run: toggleView },
  ];
  useKeys('Board', bindings);
}

function focusedTask(): string | undefined {
  return document.activeElement?.closest('[data-task]')?.getAttribute('data-task') ?? undefined;
}

/** It stays the open one while a dialog has the focus. */
function useFocusedTask(): string | undefined {
  const [task, setTask] = useState<string>();
  useEffect(() => {
    const onFocus = () => {
      if (document.querySelector('dialog[open]') === null) setTask(focusedTask());
    };
    document.addEventListener('focusin', onFocus);
    return () => document.removeEventListener('focusin', onFocus);
  }, []);
  return task;
}

/** A card that was far away is drawn within a few frames. */
function focusCard(id: string, tries = 30): void {
  requestAnimationFrame(() => {
    const card = document.querySelector<HTMLElement>(`[data-card="${CSS.escape(id)}"]`);
    card?.focus({ preventScroll: true });
    // A card that is not measured yet is hidden, and takes no focus.
    if (tries > 0 && (!card || document.activeElement !== card)) focusCard(id, tries - 1);
  });
}
