/**
 * A status area at the bottom of the terminal, with lines that scroll above it. It is redrawn as a whole. Its lines are
 * cut to the terminal's width and height, so that the number of lines to erase is always the number drawn.
 */

import type { Output } from '../output.ts';

const UP = (lines: number) => (lines === 0 ? '' : `\u001b[${lines}A`);
const CLEAR_BELOW = '\r\u001b[0J';

export class Screen {
  readonly #output: Output;
  #drawn = 0;
  #lines: readonly string[] = [];

  constructor(output: Output) {
    this.#output = output;
  }

  /** Prints lines above the status area. */
  log(lines: readonly string[]): void {
    this.#write(
      `${UP(this.#drawn)}${CLEAR_BELOW}${lines.map((line) => `${line}\n`).join('')}${this.#render()}`,
    );
  }

  draw(lines: readonly string[]): void {
    this.#lines = lines;
    this.#write(`${UP(this.#drawn)}${CLEAR_BELOW}${this.#render()}`);
  }

  /** Erases the status area. */
  close(): void {
    this.#write(`${UP(this.#drawn)}${CLEAR_BELOW}`);
    this.#drawn = 0;
  }

  #render(): string {
    const lines = this.#thatFit();
    this.#drawn = lines.length;
    return lines.map((line) => `${cut(line, this.#output.columns() - 1)}\n`).join('');
  }

  /** Leaves rows for the cursor and for some of the lines above. */
  #thatFit(): readonly string[] {
    const most = Math.max(2, this.#output.rows() - 3);
    const more = this.#lines.length - most + 1;
    return more <= 1 ? this.#lines : [...this.#lines.slice(0, most - 1), `… and ${more} more`];
  }

  #write(text: string): void {
    void this.#output.raw(text);
  }
}

/**
 * Breaks a line between words into lines of at most `columns`; all but the first are indented. A longer word is broken too:
 * where the terminal breaks it, text of an agent would begin a line, as if Copse had written it.
 */
export function wrapped(line: string, columns: number, indent: number): readonly string[] {
  const room = Math.max(1, columns - indent);
  const lines: string[] = [];
  let current = '';
  let width = 0;
  const begin = (word: string) => {
    lines.push(current);
    current = ' '.repeat(indent) + word;
    width = indent + widthOfText(word);
  };
  for (const [part] of line.replaceAll('\t', ' ').matchAll(/ *[^ ]+/gu)) {
    const next = widthOfText(part);
    if (width + next <= columns) {
      current += part;
      width += next;
      continue;
    }
    const [first = '', ...others] = pieces(part.trimStart(), room);
    if (width > indent) begin(first);
    else {
      current = ' '.repeat(Math.min(indent, columns - 1)) + first;
      width = widthOfText(current);
    }
    for (const piece of others) begin(piece);
  }
  return [...lines, current];
}

/** A word in pieces of at most so many columns. */
function pieces(word: string, columns: number): readonly string[] {
  if (widthOfText(word) <= columns) return [word];
  const found: string[] = [];
  let piece = '';
  let width = 0;
  for (const [part] of partsOf(word)) {
    const next = part.startsWith('\u001b') ? 0 : widthOf(part);
    if (width + next > columns && piece !== '') {
      found.push(piece);
      piece = '';
      width = 0;
    }
    piece += part;
    width += next;
  }
  return [...found, piece];
}

type Prose = Pick<Output, 'line' | 'columns' | 'isTerminal'>;

/**
 * Text for people: on a terminal a long line is broken between words, elsewhere it stays whole. `indent`: where a line
 * continues; without it, where the line itself begins.
 */
/** With a dot between the facts, broken between facts only. */
export function factLines(facts: readonly string[], columns: number): readonly string[] {
  const lines: string[] = [];
  for (const fact of facts) {
    const longer = lines.length === 0 ? fact : `${lines.at(-1)} · ${fact}`;
    if (lines.length === 0 || widthOfText(longer) > columns) lines.push(fact);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

export function printProse(output: Prose, text: string, indent?: number): void {
  for (const line of text.split('\n')) for (const part of proseLines(output, line, indent)) output.line(part);
}

function proseLines(output: Prose, line: string, indent = indentOf(line)): readonly string[] {
  if (!output.isTerminal) return [line];
  const columns = Math.max(1, output.columns() - 1);
  return wrapped(line, columns, indent > columns - LEAST_ROOM ? USUAL_INDENT : indent);
}

/** Beside a wider first column there would be room for a word or two. */
const LEAST_ROOM = 24;
const USUAL_INDENT = 4;

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

/** `name   value`: each value continues below itself. */
export function printFields(
  output: Prose,
  rows: readonly (readonly [name: string, value: string | null])[],
  { margin, width }: { readonly margin: number; readonly width: number },
): void {
  const indent = margin + width + 1;
  for (const [name, value] of rows)
    if (value !== null)
      printProse(
        output,
        `${' '.repeat(margin)}${name.padEnd(width)} ${value.replaceAll('\n', `\n${' '.repeat(indent)}`)}`,
        indent,
      );
}

/** Cuts to `columns`. Escape sequences take no column, wide characters two. */
export function cut(line: string, columns: number): string {
  if (widthOfText(line) <= columns) return line;
  if (PLAIN.test(line)) return `${line.slice(0, Math.max(0, columns - 1))}…`;
  let width = 0;
  let text = '';
  for (const [part] of partsOf(line)) {
    const isEscape = part.startsWith('\u001b');
    const next = isEscape ? 0 : widthOf(part);
    if (width + next > columns - 1 && width + widthOfText(line.slice(text.length)) > columns)
      return `${text}…${line.includes('\u001b') ? '\u001b[0m' : ''}`;
    width += next;
    text += part;
  }
  return text;
}

export function widthOfText(text: string): number {
  // Most lines: to look at each character takes twenty times as long.
  const bare = text.includes('\u001b') ? text.replaceAll(/\u001b\[[0-9;]*m/g, '') : text;
  if (PLAIN.test(bare)) return bare.length;
  let width = 0;
  for (const [part] of partsOf(text)) if (!part.startsWith('\u001b')) width += widthOf(part);
  return width;
}

/**
 * Colours, and characters with the marks that lie upon them. A mark that takes a column is a character of its own. Most commands
 * need no such pattern, and V8 reads one for a millisecond, also if it is never used.
 */
const partsOf = (text: string) =>
  text.matchAll(/\u001b\[[0-9;]*m|[\P{M}\p{Mc}][\p{Mn}\p{Me}]*|[\p{Mn}\p{Me}]+/gu);

const PLAIN = /^[ -~…→·]*$/;

const isWide = (character: string) =>
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{17000}-\u{1b2ff}\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u.test(
    character,
  );

/** U+FE0F turns a symbol into a picture, which many terminals draw twice as wide. */
function widthOf(character: string): number {
  return isWide(character) || character.includes('\ufe0f') ? 2 : 1;
}

/** Cuts between words, or inside a word that is longer than a third of the line. For text without colours. */
export function cutAtWords(text: string, columns: number): string {
  if (widthOfText(text) <= columns) return text;
  const room = Math.max(1, columns - 1);
  let width = 0;
  let end = 0;
  for (const [part] of partsOf(text)) {
    width += widthOfText(part);
    if (width > room) break;
    end += part.length;
  }
  const cut = text.slice(0, end);
  const isBetween = text[end] === ' ' || cut.endsWith(' ');
  const space = cut.lastIndexOf(' ');
  const whole = isBetween || space < end * (2 / 3) ? cut : cut.slice(0, space);
  return `${whole.replace(/[ ,;:.…]+$/, '')}…`;
}
