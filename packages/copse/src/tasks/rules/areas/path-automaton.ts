/**
 * Small automata that read paths, and the test whether two of them accept a common path. areas.ts builds them from globs.
 */

/** Inclusive ranges of code points, none of which holds a slash or NUL. */
type CharacterSet = readonly (readonly [from: number, to: number])[];

export type Piece =
  | { readonly kind: 'character'; readonly set: CharacterSet }
  | { readonly kind: 'separator' }
  | { readonly kind: 'run' }
  | { readonly kind: 'anything' }
  | { readonly kind: 'choice'; readonly alternatives: readonly (readonly Piece[])[] };

const SLASH = 0x2f;
const LAST_CODE_POINT = 0x10ffff;
export const ANY_CHARACTER: CharacterSet = [
  [1, SLASH - 1],
  [SLASH + 1, LAST_CODE_POINT],
];

type AutomatonState =
  | { readonly kind: 'end' }
  | { readonly kind: 'character'; readonly set: CharacterSet; readonly next: number }
  | { readonly kind: 'separator' | 'run' | 'anything'; readonly next: number }
  | { readonly kind: 'fork'; readonly next: readonly number[] };

export interface Automaton {
  readonly states: readonly AutomatonState[];
  readonly start: number;
}

/** Accepts the pieces and, if the last name is plain, everything below it. */
export function toAreaAutomaton(pieces: readonly Piece[]): Automaton {
  if (lastNameKind(pieces) === 'wild') return toAutomaton(pieces);
  const states: AutomatonState[] = [{ kind: 'end' }];
  const end = 0;
  const below = append(states, [{ kind: 'separator' }, { kind: 'anything' }], end);
  const pathOrBelow = states.push({ kind: 'fork', next: [end, below] }) - 1;
  return { states, start: append(states, pieces, pathOrBelow) };
}

/** Accepts exactly the pieces. */
export function toAutomaton(pieces: readonly Piece[]): Automaton {
  const states: AutomatonState[] = [{ kind: 'end' }];
  return { states, start: append(states, pieces, 0) };
}

/** Adds states that read `pieces` and continue at `next`; returns the first of them. */
function append(states: AutomatonState[], pieces: readonly Piece[], next: number): number {
  return pieces.reduceRight((after, piece) => {
    const state: AutomatonState =
      piece.kind === 'choice'
        ? { kind: 'fork', next: piece.alternatives.map((alternative) => append(states, alternative, after)) }
        : { ...piece, next: after };
    return states.push(state) - 1;
  }, next);
}

/**
 * The last name, read from the end: `wild` if every way through it meets `*` or `?`, `whole` if some way reaches its
 * beginning without one, `open` if some way reaches the beginning of `pieces` first.
 */
function lastNameKind(pieces: readonly Piece[]): 'wild' | 'whole' | 'open' {
  for (const piece of pieces.toReversed()) {
    if (piece.kind === 'separator') return 'whole';
    if (piece.kind === 'run' || piece.kind === 'anything') return 'wild';
    if (piece.kind === 'character' && piece.set === ANY_CHARACTER) return 'wild';
    if (piece.kind === 'choice') {
      const kinds = new Set(piece.alternatives.map(lastNameKind));
      if (kinds.has('whole')) return 'whole';
      if (!kinds.has('open')) return 'wild';
    }
  }
  return 'open';
}

/**
 * The position in the shared path. At the beginning of a name, a pattern may pass a separator without reading a `/`, so
 * that a `**` with a slash after it can match no folder; but not after it used a `*` for nothing in this name, because a name is
 * never empty.
 */
const INSIDE_NAME = 0;
const AT_NAME = 1;
const LEFT_SPENT = 1;
const RIGHT_SPENT = 2;
const POSITIONS = AT_NAME + LEFT_SPENT + RIGHT_SPENT + 1;

/** Whether some well-formed path, one without empty names, is read to its end by both. */
export function shareAPath(left: Automaton, right: Automaton): boolean {
  const width = right.states.length;
  const seen = new Uint8Array(left.states.length * width * POSITIONS);
  const open: number[] = [];
  const visit = (l: number, r: number, position: number): void => {
    const key = (l * width + r) * POSITIONS + position;
    if (seen[key] === 1) return;
    seen[key] = 1;
    open.push(key);
  };

  visit(left.start, right.start, AT_NAME);
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    const position = key % POSITIONS;
    const pair = (key - position) / POSITIONS;
    const r = pair % width;
    const l = (pair - r) / width;
    const leftState = requireState(left, l);
    const rightState = requireState(right, r);

    if (leftState.kind === 'end' && rightState.kind === 'end' && position === INSIDE_NAME) return true;
    passWithoutReading(leftState, position, LEFT_SPENT, (next, then) => visit(next, r, then));
    passWithoutReading(rightState, position, RIGHT_SPENT, (next, then) => visit(l, next, then));

    if (bothReadOneCharacter(leftState, rightState))
      visit(afterReading(leftState, l), afterReading(rightState, r), INSIDE_NAME);
    if (position === INSIDE_NAME && readsSlash(leftState) && readsSlash(rightState)) {
      visit(afterReading(leftState, l), afterReading(rightState, r), AT_NAME);
    }
  }
  return false;
}

function passWithoutReading(
  state: AutomatonState,
  position: number,
  spent: typeof LEFT_SPENT | typeof RIGHT_SPENT,
  pass: (next: number, position: number) => void,
): void {
  const isAtName = position >= AT_NAME;
  const isSpent = isAtName && ((position - AT_NAME) & spent) !== 0;
  if (state.kind === 'fork') for (const next of state.next) pass(next, position);
  else if (state.kind === 'anything') pass(state.next, position);
  else if (state.kind === 'run') pass(state.next, isAtName && !isSpent ? position + spent : position);
  else if (state.kind === 'separator' && isAtName && !isSpent) pass(state.next, position);
}

function bothReadOneCharacter(a: AutomatonState, b: AutomatonState): boolean {
  const left = charactersRead(a);
  const right = charactersRead(b);
  return left.some(([from, to]) => right.some(([low, high]) => from <= high && low <= to));
}

function charactersRead(state: AutomatonState): CharacterSet {
  if (state.kind === 'character') return state.set;
  return state.kind === 'run' || state.kind === 'anything' ? ANY_CHARACTER : [];
}

function readsSlash(state: AutomatonState): boolean {
  return state.kind === 'separator' || state.kind === 'anything';
}

/** Runs stay where they are: they may read more. */
function afterReading(state: AutomatonState, at: number): number {
  return state.kind === 'character' || state.kind === 'separator' ? state.next : at;
}

function requireState(automaton: Automaton, at: number): AutomatonState {
  const state = automaton.states[at];
  if (state === undefined) throw new Error(`An area has no state ${at}`);
  return state;
}

export function literalPiece(character: string): Piece {
  if (character === '/') return { kind: 'separator' };
  const code = character.codePointAt(0) ?? 0;
  return { kind: 'character', set: [[code, code]] };
}

export function complement(ranges: readonly (readonly [number, number])[]): CharacterSet {
  let rest: CharacterSet = ANY_CHARACTER;
  for (const [from, to] of ranges) {
    // A range written backwards, as in the folder `[user-id]`, is empty.
    if (from <= to)
      rest = intersection(rest, [
        [0, from - 1],
        [to + 1, LAST_CODE_POINT],
      ]);
  }
  return rest;
}

export function intersection(a: CharacterSet, b: CharacterSet): CharacterSet {
  return a
    .flatMap(([from, to]) => b.map(([low, high]) => [Math.max(from, low), Math.min(to, high)] as const))
    .filter(([from, to]) => from <= to);
}
