/**
 * Text for people. On a terminal a long line is broken between words, and continues below its text. Programs read whole
 * lines, and a command that a person copies stays in one line (after/next-steps.ts).
 */

import type { Output } from '../output.ts';
import { wrapped } from './screen.ts';

type Prose = Pick<Output, 'line' | 'columns' | 'isTerminal'>;

/** `indent`: where a line continues; without it, where the line itself begins. */
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
