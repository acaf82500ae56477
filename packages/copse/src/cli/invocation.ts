/** What every command gets: folder, environment, output, words and options. */

import type { Command, OptionValues } from 'commander';

import type { Output } from './output.ts';

export interface Cli {
  readonly version: string;
  readonly output: Output;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface Invocation<Options extends OptionValues = OptionValues> {
  readonly cli: Cli;
  readonly program: Command;
  readonly words: readonly string[];
  readonly options: Options;
}
