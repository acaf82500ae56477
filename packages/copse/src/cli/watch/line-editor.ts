/** A line of text that a person types: what is there, and what each key makes of it. */

import { widthOfText } from '../screen/screen.ts';
import type { PressedKey } from '../screen/keys.ts';

export interface TypedLine {
  /** One entry per character as a person sees it. */
  readonly characters: readonly string[];
  /** Before which character the next one goes. */
  readonly cursor: number;
}

export type Edited =
  | { readonly kind: 'typing'; readonly line: TypedLine }
  | { readonly kind: 'entered'; readonly text: string }
  | { readonly kind: 'left' };

export const emptyLine: TypedLine = { characters: [], cursor: 0 };

export function lineOf(text: string): TypedLine {
  const characters = charactersOf(text);
  return { characters, cursor: characters.length };
}

export function textOf({ characters }: TypedLine): string {
  return characters.join('');
}

export function editLine(line: TypedLine, key: PressedKey): Edited {
  switch (key.kind) {
    case 'enter':
      return { kind: 'entered', text: textOf(line).trim() };
    case 'escape':
      return { kind: 'left' };
    case 'char':
      return typing(insert(line, [key.char]));
    case 'paste':
      return typing(insert(line, charactersOf(key.text)));
    case 'backspace':
      // As in a shell's own line, Backspace in an empty line leaves it.
      return line.characters.length === 0
        ? { kind: 'left' }
        : typing(cutOut(line, line.cursor - 1, line.cursor));
    case 'delete':
      return typing(cutOut(line, line.cursor, line.cursor + 1));
    case 'control':
      return editByControl(line, key.letter);
    default:
      return typing({ ...line, cursor: movedTo(line, key.kind) });
  }
}

function editByControl(line: TypedLine, letter: string): Edited {
  const { characters, cursor } = line;
  switch (letter) {
    case 'c':
    case 'g':
      return { kind: 'left' };
    case 'a':
      return typing({ ...line, cursor: 0 });
    case 'e':
      return typing({ ...line, cursor: characters.length });
    case 'b':
      return typing({ ...line, cursor: movedTo(line, 'left') });
    case 'f':
      return typing({ ...line, cursor: movedTo(line, 'right') });
    case 'd':
      return typing(cutOut(line, cursor, cursor + 1));
    case 'h':
      return typing(cutOut(line, cursor - 1, cursor));
    case 'k':
      return typing(cutOut(line, cursor, characters.length));
    case 'u':
      return typing(cutOut(line, 0, cursor));
    case 'w':
      return typing(cutOut(line, wordBefore(line), cursor));
    default:
      return typing(line);
  }
}

function typing(line: TypedLine): Edited {
  return { kind: 'typing', line };
}

function insert({ characters, cursor }: TypedLine, added: readonly string[]): TypedLine {
  return { characters: characters.toSpliced(cursor, 0, ...added), cursor: cursor + added.length };
}

function cutOut({ characters, cursor }: TypedLine, from: number, to: number): TypedLine {
  const first = Math.max(0, from);
  const count = Math.max(0, Math.min(to, characters.length) - first);
  return {
    characters: characters.toSpliced(first, count),
    cursor: cursor > first ? cursor - Math.min(count, cursor - first) : cursor,
  };
}

function movedTo({ characters, cursor }: TypedLine, key: PressedKey['kind']): number {
  switch (key) {
    case 'left':
      return Math.max(0, cursor - 1);
    case 'right':
      return Math.min(characters.length, cursor + 1);
    case 'home':
      return 0;
    case 'end':
      return characters.length;
    default:
      return cursor;
  }
}

function wordBefore({ characters, cursor }: TypedLine): number {
  let at = cursor;
  while (at > 0 && characters[at - 1] === ' ') at -= 1;
  while (at > 0 && characters[at - 1] !== ' ') at -= 1;
  return at;
}

/** Line ends and tabs become spaces, other control characters are left out. */
function charactersOf(text: string): readonly string[] {
  const plain = text
    .replaceAll(/[\r\n\t]+/g, ' ')
    .replaceAll(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '');
  return plain.match(/\P{M}\p{M}*/gu) ?? [];
}

/** The part around the cursor that fits, and the column of the cursor in it. */
export function visibleLine(
  { characters, cursor }: TypedLine,
  columns: number,
): { readonly text: string; readonly column: number } {
  const room = Math.max(1, columns - 1);
  let from = cursor;
  let width = 0;
  while (from > 0 && width + widthOfText(characters[from - 1] ?? '') <= room) {
    from -= 1;
    width += widthOfText(characters[from] ?? '');
  }
  let to = cursor;
  let all = width;
  while (to < characters.length && all + widthOfText(characters[to] ?? '') <= room) {
    all += widthOfText(characters[to] ?? '');
    to += 1;
  }
  return { text: characters.slice(from, to).join(''), column: width };
}
