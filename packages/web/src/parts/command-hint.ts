/** Shows the command line of the button at which the pointer rests or the keyboard is. Loaded after the first page. */

import styles from './command-hint.module.css';

const REST_MS = 250;
const APART_PX = 6;

/** Returns what ends it. */
export function showCommands(): () => void {
  const hint = document.createElement('div');
  hint.className = styles['hint'] ?? '';
  hint.dataset['testid'] = 'command-hint';
  // The button has it as its description.
  hint.setAttribute('aria-hidden', 'true');
  hint.popover = 'manual';
  document.body.append(hint);
  const ended = new AbortController();
  const on = (name: string, listener: (event: Event) => void) =>
    document.addEventListener(name, listener, { capture: true, passive: true, signal: ended.signal });
  let at: HTMLElement | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const hide = () => {
    clearTimeout(timer);
    at = undefined;
    if (hint.matches(':popover-open')) hint.hidePopover();
  };
  const showAfter = (waitMs: number, { target }: Event) => {
    const button = target instanceof Element ? target.closest<HTMLElement>('[data-command]') : null;
    if (button !== null && button === at) return;
    hide();
    if (button === null) return;
    at = button;
    timer = setTimeout(() => {
      // Its task may have gone on.
      if (!button.isConnected) return;
      hint.textContent = button.dataset['command'] ?? '';
      hint.showPopover();
      place(hint, button.getBoundingClientRect());
    }, waitMs);
  };
  on('pointerover', (event) => {
    if ((event as PointerEvent).pointerType === 'mouse') showAfter(REST_MS, event);
  });
  on('focusin', (event) => {
    if (event.target instanceof Element && event.target.matches(':focus-visible')) showAfter(0, event);
  });
  on('keydown', (event) => {
    if ((event as KeyboardEvent).key === 'Escape') hide();
  });
  // A page may scroll to what gets the focus.
  on('scroll', () => {
    if (at === undefined || at !== document.activeElement) hide();
    else place(hint, at.getBoundingClientRect());
  });
  for (const name of ['focusout', 'click', 'pointerleave']) on(name, hide);
  return () => {
    ended.abort();
    hide();
    hint.remove();
  };
}

/** Below the button, or above it where the screen ends. */
function place(hint: HTMLElement, button: DOMRect): void {
  const { width, height } = hint.getBoundingClientRect();
  const left = Math.max(APART_PX, Math.min(button.left, innerWidth - width - APART_PX));
  const below = button.bottom + APART_PX;
  const top = below + height <= innerHeight ? below : button.top - APART_PX - height;
  hint.style.left = `${left}px`;
  hint.style.top = `${Math.max(0, top)}px`;
}
