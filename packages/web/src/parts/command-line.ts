/** The command line that does the same as a button: a hint shows it, and a screen reader reads it as the button's description. */

import { shown } from '../../../copse/src/kernel/text.ts';

export function withCommand(command: string): {
  readonly 'data-command': string;
  readonly 'aria-description': string;
} {
  const line = shown(command);
  return { 'data-command': line, 'aria-description': line };
}
