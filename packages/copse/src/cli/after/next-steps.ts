/** How next commands are printed: one for each arrow, ready to be pasted, and a remark on the line above it. */

import { splitRemark } from '../../kernel/shell.ts';
import { printProse } from '../screen/prose.ts';

/** As much of an output as this needs: the output itself prints failures with these lines. */
interface Printer {
  line(text: string): void;
  style(style: 'dim', text: string): string;
  columns(): number;
  readonly isTerminal: boolean;
}

export function stepLines(step: string): readonly string[] {
  const { command, remark } = splitRemark(step);
  const above = remark === null ? [] : [`    ${remark.charAt(0).toUpperCase()}${remark.slice(1)}:`];
  return [...above, `  → ${command}`];
}

export function printSteps(output: Printer, steps: readonly string[]): void {
  for (const line of steps.flatMap(stepLines)) printStep(output, output.style('dim', line), line);
}

/** A command stays in one line, to be copied; a remark or an advice is broken between words. */
export function printStep(output: Printer, styled: string, line: string): void {
  if (/^ *(?:→ )?[A-Z]/.test(line)) printProse(output, styled, REMARK_AT);
  else output.line(styled);
}

const REMARK_AT = 4;
