/** What every command gets: folder, environment, output, words and options. */

import type { OptionValues } from 'commander';

import type { Host } from './host.ts';
import type { Output } from './output.ts';
import type { CopseCommand } from './program/command.ts';

export interface Cli extends Pick<Host, 'cwd' | 'env' | 'stdin'> {
  readonly version: string;
  readonly output: Output;
}

export interface Invocation<Options extends OptionValues = OptionValues> {
  readonly cli: Cli;
  readonly program: CopseCommand;
  readonly words: readonly string[];
  readonly options: Options;
}
