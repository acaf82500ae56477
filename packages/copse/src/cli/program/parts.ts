/** Shared by the definitions of commands. */

import type { Command } from 'commander';

import type { Invocation } from '../invocation.ts';

export type Run = (invocation: Invocation<never>) => Promise<void>;

/** Loads a command only when it is run. */
export type On = (load: () => Promise<{ readonly run: Run }>) => (this: Command) => Promise<void>;

/** Commands that are set up together, with all their names. */
export interface Group {
  readonly names: readonly string[];
  readonly add: (program: Command, on: On) => void;
}

export function examples(rows: readonly (readonly [command: string, why: string])[]): string {
  const width = Math.max(...rows.map(([command]) => command.length));
  const lines = rows.map(([command, why]) => `  ${why ? command.padEnd(width + 2) + why : command}`);
  return `\nExamples:\n${lines.join('\n')}\n`;
}
