/** What the command line hands to a command. */

import type { Command, OptionValues } from 'commander';

import type { Host } from './host.ts';
import type { Output } from './output.ts';

export interface Cli extends Pick<Host, 'cwd' | 'env' | 'stdin'> {
  readonly version: string;
  readonly output: Output;
}

/** What a command gets: positional arguments, options, and the way out. */
export interface Invocation<Options extends OptionValues = OptionValues> {
  readonly cli: Cli;
  readonly program: Command;
  readonly words: readonly string[];
  readonly options: Options;
}
