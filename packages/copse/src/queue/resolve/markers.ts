/**
 * Reads conflict markers as git's rerere does: the same conflict has the same id, independent of which side is ours and of
 * the labels. Texts have one character per byte.
 */

import { createHash } from 'node:crypto';

export interface Normalised {
  readonly id: string;
  /** The file with its markers; the sides of each conflict are sorted and have no labels. */
  readonly text: string;
}

type Part = 'outside' | 'one' | 'base' | 'other';

/** Undefined for a file without conflicts, or with markers that git did not write. */
export function normalise(marked: string): Normalised | undefined {
  const hash = createHash('sha256');
  let part: Part = 'outside';
  let [text, one, other, conflicts] = ['', '', '', 0];
  for (const line of linesOf(marked)) {
    const found = markerOf(line);
    // Outside of a conflict, a row of `=` is a heading.
    const marker: ConflictMarker | undefined = part === 'outside' && found !== '<' ? undefined : found;
    const next: Part | undefined = marker === undefined ? part : FOLLOWS[part][marker];
    if (next === undefined) return undefined;
    if (marker === '>') {
      const [first, second] = one <= other ? [one, other] : [other, one];
      text += `<<<<<<<\n${first}=======\n${second}>>>>>>>\n`;
      hash.update(`${first}\0${second}\0`, 'latin1');
      [one, other, conflicts] = ['', '', conflicts + 1];
    } else if (marker === undefined) {
      if (part === 'outside') text += line;
      if (part === 'one') one += line;
      if (part === 'other') other += line;
    }
    part = next;
  }
  return part === 'outside' && conflicts > 0 ? { id: hash.digest('hex'), text } : undefined;
}

/** The lines that git puts around the sides; a line of `=` can be part of any file. */
export function hasMarkers(text: string): boolean {
  return /^(?:<{7}|>{7})(?:\s|$)/m.test(text);
}

type ConflictMarker = '<' | '|' | '=' | '>';

const FOLLOWS: Readonly<Record<Part, Partial<Readonly<Record<ConflictMarker, Part>>>>> = {
  outside: { '<': 'one' },
  one: { '|': 'base', '=': 'other' },
  base: { '=': 'other' },
  other: { '>': 'outside' },
};

function markerOf(line: string): ConflictMarker | undefined {
  return /^([<|=>])\1{6}(?=\s|$)/.exec(line)?.[1] as ConflictMarker | undefined;
}

function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
