/**
 * A terminal can leave the page while a person types into it, because its agent ends. The rest of the text must not be keys of
 * the page, where `g b` leaves it: until there is a pause, a click, or a key that ends a text, it reaches nothing.
 */

const PAUSE_MS = 1_500;

let lastTypedAt = -PAUSE_MS;

/** A field that a person chose gets its text. */
const FIELD = 'input, textarea, select, [contenteditable]';

addEventListener(
  'keydown',
  (event) => {
    const target = event.target instanceof Element ? event.target : document.body;
    const isInTerminal = target.closest('.xterm') !== null;
    const isRest = !isInTerminal && event.timeStamp - lastTypedAt < PAUSE_MS && !target.matches(FIELD);
    const isLeaving = event.ctrlKey && event.key === ']';
    const isEnd = isLeaving || /^(Enter|Escape|Tab)$/.test(event.key);
    lastTypedAt = (isInTerminal || isRest) && !isEnd ? event.timeStamp : -PAUSE_MS;
    if (!isRest || event.key === 'Escape' || event.key === 'Tab') return;
    // The focus is on what is left of the page, which may be a button: neither a space nor the end of the line presses it.
    event.stopPropagation();
    event.preventDefault();
  },
  true,
);
addEventListener('pointerdown', () => (lastTypedAt = -PAUSE_MS), true);
