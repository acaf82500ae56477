/** Which keys are the rest of a text whose field left the page, and which leave a terminal. */

const PAUSE_MS = 1_500;

interface TypedKey {
  readonly key: string;
  /** It gives the keyboard of a terminal back to the page. */
  readonly isLeaving: boolean;
  readonly atMs: number;
  readonly place: 'terminal' | 'field' | 'page';
}

interface KeyOfText {
  readonly isStopped: boolean;
  /** When text was typed last, unless it ended. */
  readonly typedAtMs: number | undefined;
}

export function decideTyped(
  typedAtMs: number | undefined,
  { key, isLeaving, atMs, place }: TypedKey,
): KeyOfText {
  const isRest = place === 'page' && typedAtMs !== undefined && atMs - typedAtMs < PAUSE_MS;
  const isEnd = isLeaving || /^(Enter|Escape|Tab)$/.test(key);
  return {
    // The focus is on what is left of the page, which may be a button: neither a space nor the end of the line presses it.
    isStopped: isRest && key !== 'Escape' && key !== 'Tab',
    typedAtMs: (place !== 'page' || isRest) && !isEnd ? atMs : undefined,
  };
}

/** Of an event of the keyboard. */
interface PressedKey {
  readonly key: string;
  readonly code: string;
  readonly ctrlKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
  getModifierState(name: string): boolean;
}

/**
 * Ctrl ], Ctrl and the key in its place, or Ctrl Shift Escape. Many layouts have ] only with AltGr, which some systems report as
 * Ctrl Alt: there it is a letter for the agent.
 */
export function leavesTerminal(pressed: PressedKey): boolean {
  const { key, code, ctrlKey, altKey, shiftKey } = pressed;
  if (!ctrlKey || altKey || pressed.getModifierState('AltGraph')) return false;
  return key === ']' || code === 'BracketRight' || (shiftKey && key === 'Escape');
}
