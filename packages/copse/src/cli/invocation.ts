/** What the command line hands to a command. */

import type { Command, OptionValues } from 'commander';

import type { Output } from './output.ts';

export interface Cli {
  readonly version: string;
  readonly output: Output;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What a command gets: positional arguments, options, and the way out. */
export interface Invocation<Options extends OptionValues = OptionValues> {
  readonly cli: Cli;
  readonly program: Command;
  readonly words: readonly string[];
  readonly options: Options;
}
