/** Running command lines that a person wrote: acceptance, and hooks around an attempt. */

import type { CommandsOutcome } from './furnishing.ts';

export interface CommandLines {
  /** Names the files in which their output is kept. */
  readonly name: string;
  readonly commands: readonly string[];
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly logFolder: string;
  /** For a folder that goes away afterwards: what they started is ended, and they know nothing of Copse. */
  readonly leavesNothing?: boolean;
}

export interface Commands {
  /** One after another, until one fails. */
  run(lines: CommandLines): Promise<CommandsOutcome>;
}
