/**
 * Keys of the shell and of pages, in one list: what works is what the help shows. Keys typed into a field are text, and an
 * open dialog has its own keys. A key that is held down runs nothing but moves.
 */

import { useEffect, useId, useLayoutEffect, useRef, useSyncExternalStore } from 'react';

export interface KeyBinding {
  /** As the browser names them; `g b` is a sequence. The help shows the first. */
  readonly keys: readonly [string, ...string[]];
  readonly does: string;
  readonly run: (key: string) => void;
  /** It may run again while the key is held down. */
  readonly isMove?: boolean;
}

interface KeyGroup {
  readonly title: string;
  readonly bindings: readonly KeyBinding[];
}

const NEXT_KEY_MS = 1_500;

let groups: ReadonlyMap<string, KeyGroup> = new Map();
const listeners = new Set<() => void>();
let first: { readonly key: string; readonly at: number } | undefined;

/** The keys work while the component is on the page. Those of a later component come before those of an earlier one. */
export function useKeys(title: string, bindings: readonly KeyBinding[]): void {
  const id = useId();
  const latest = useRef(bindings);
  useLayoutEffect(() => {
    latest.current = bindings;
  });
  const text = bindings.map(({ keys, does }) => `${keys.join(' or ')}: ${does}`).join('\n');
  useEffect(() => {
    const stable = latest.current.map(({ keys, does, isMove = false }, index): KeyBinding => ({
      keys,
      does,
      isMove,
      run: (key: string) => latest.current[index]?.run(key),
    }));
    groups = new Map([[id, { title, bindings: stable }], ...groups]);
    for (const listener of listeners) listener();
    return () => {
      groups = new Map([...groups].filter(([other]) => other !== id));
      for (const listener of listeners) listener();
    };
    // A binding is the same as long as it says the same; what it runs is always the latest.
  }, [id, title, text]);
}

export function useKeyGroups(): readonly KeyGroup[] {
  const now = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => groups,
  );
  return [...now.values()];
}

function isTyping({ target }: Event): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

addEventListener('keydown', (event) => {
  if (event.defaultPrevented || isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
  if (document.querySelector('dialog[open]') !== null) return;
  const all = [...groups.values()].flatMap(({ bindings }) => bindings);
  const isSequence = first !== undefined && event.timeStamp - first.at < NEXT_KEY_MS;
  const pressed = isSequence ? `${first?.key} ${event.key}` : event.key;
  first = undefined;
  const found = all.find(({ keys }) => keys.includes(pressed));
  if (found !== undefined) {
    event.preventDefault();
    if (!event.repeat || found.isMove) found.run(event.key);
    return;
  }
  if (all.some(({ keys }) => keys.some((key) => key.startsWith(`${event.key} `))))
    first = { key: event.key, at: event.timeStamp };
});
