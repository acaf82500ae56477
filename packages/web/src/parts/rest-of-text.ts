/**
 * A field or a terminal can leave the page while a person types into it, because its task went on elsewhere. The rest of the text
 * must not be keys of the page, where `g b` leaves it and `r` restarts a task: until there is a pause, a click, or a key that ends
 * a text, it reaches nothing.
 */

import { decideTyped, leavesTerminal } from './typed-text.ts';

/** A field that a person chose gets its text. */
const FIELD = 'input, textarea, select, [contenteditable]';

/** Returns what ends it. */
export function guardRestOfText(): () => void {
  let typedAtMs: number | undefined;
  const onKey = (event: KeyboardEvent) => {
    const target = event.target instanceof Element ? event.target : document.body;
    const inField = target.matches(FIELD) ? 'field' : 'page';
    const place = target.closest('.xterm') === null ? inField : 'terminal';
    const { key, timeStamp } = event;
    const isLeaving = leavesTerminal(event);
    const decided = decideTyped(typedAtMs, { key, isLeaving, atMs: timeStamp, place });
    ({ typedAtMs } = decided);
    if (!decided.isStopped) return;
    event.stopPropagation();
    event.preventDefault();
  };
  const onPress = () => {
    typedAtMs = undefined;
  };
  addEventListener('keydown', onKey, true);
  addEventListener('pointerdown', onPress, true);
  return () => {
    removeEventListener('keydown', onKey, true);
    removeEventListener('pointerdown', onPress, true);
  };
}
