/** Which keys are the rest of a text whose field left the page. */

const PAUSE_MS = 1_500;

interface TypedKey {
  readonly key: string;
  readonly isCtrl: boolean;
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
  { key, isCtrl, atMs, place }: TypedKey,
): KeyOfText {
  const isRest = place === 'page' && typedAtMs !== undefined && atMs - typedAtMs < PAUSE_MS;
  const isLeaving = isCtrl && key === ']';
  const isEnd = isLeaving || /^(Enter|Escape|Tab)$/.test(key);
  return {
    // The focus is on what is left of the page, which may be a button: neither a space nor the end of the line presses it.
    isStopped: isRest && key !== 'Escape' && key !== 'Tab',
    typedAtMs: (place !== 'page' || isRest) && !isEnd ? atMs : undefined,
  };
}
