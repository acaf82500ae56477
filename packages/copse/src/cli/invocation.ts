/** What every command gets: folder, environment, output, words and options. */

import type { OptionValues } from 'commander';

import type { Host } from './host.ts';
import type { Output } from './output.ts';
import type { CopseCommand } from './program/command.ts';

type Streams = Pick<Host, 'stdin' | 'stdout' | 'stderr'>;

export interface Cli extends Pick<Host, 'cwd' | 'env' | 'stdin'> {
  readonly version: string;
  readonly output: Output;
  /** Runs another command in this process, with input and output of its own; returns its exit code. */
  runInside(this: void, argv: readonly string[], streams: Streams): Promise<number>;
}

export interface Invocation<Options extends OptionValues = OptionValues> {
  readonly cli: Cli;
  readonly program: CopseCommand;
  readonly words: readonly string[];
  readonly options: Options;
}
