/** The lines of a next command: ready to be pasted, and a remark on the line above it. The output prints failures with them. */

import { splitRemark } from '../../kernel/shell.ts';

export function stepLines(step: string): readonly string[] {
  const { command, remark } = splitRemark(step);
  const above = remark === null ? [] : [`    ${remark.charAt(0).toUpperCase()}${remark.slice(1)}:`];
  return [...above, `  → ${command}`];
}
