/** What every command gets: folder, environment, output, words and options. */

import type { Command, OptionValues } from 'commander';

import type { Host } from './host.ts';
import type { Output } from './output.ts';

export interface Cli extends Pick<Host, 'cwd' | 'env' | 'stdin'> {
  readonly version: string;
  readonly output: Output;
}

export interface Invocation<Options extends OptionValues = OptionValues> {
  readonly cli: Cli;
  readonly program: Command;
  readonly words: readonly string[];
  readonly options: Options;
}
