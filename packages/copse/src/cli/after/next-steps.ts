/** How next commands are printed: one for each arrow, ready to be pasted, and a remark on the line above it. */

import { splitRemark } from '../../kernel/shell.ts';

/** As much of an output as this needs: the output itself prints failures with these lines. */
interface Printer {
  line(text: string): void;
  style(style: 'dim', text: string): string;
}

export function stepLines(step: string): readonly string[] {
  const { command, remark } = splitRemark(step);
  const above = remark === null ? [] : [`    ${remark.charAt(0).toUpperCase()}${remark.slice(1)}:`];
  return [...above, `  → ${command}`];
}

export function printSteps(output: Printer, steps: readonly string[]): void {
  for (const line of steps.flatMap(stepLines)) output.line(output.style('dim', line));
}
