/** How next commands are printed: one for each arrow. */

import type { Output } from '../output.ts';
import { printProse } from '../screen/screen.ts';
import { stepLines } from '../../kernel/shell.ts';

export function printSteps(output: Output, steps: readonly string[]): void {
  for (const line of steps.flatMap(stepLines)) printStep(output, line, output.style('dim', line));
}

/** A command stays in one line, to be copied; a remark or an advice is broken between words. */
export function printStep(output: Output, line: string, styled = line): void {
  if (/^ *(?:→ )?[A-Z]/.test(line)) printProse(output, styled, REMARK_AT);
  else output.line(styled);
}

const REMARK_AT = 4;
