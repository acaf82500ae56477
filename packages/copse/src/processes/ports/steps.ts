/**
 * Commands that take a while, that may be called off, and that are to leave nothing behind. What one starts carries a mark
 * in its environment and is written down, so that it is found again after its keeper was killed.
 */

import type { ProcessIdentity } from '../../kernel/process.ts';

export interface Step {
  /** A line for the shell, or a program with its arguments. */
  readonly command: string | readonly string[];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly output: { write(chunk: Buffer): void };
  /** Where its processes are written down while it runs. */
  readonly record: string;
}

export type StepEnding =
  | { readonly ended: 'exit'; readonly code: number }
  | { readonly ended: 'signal'; readonly signal: NodeJS.Signals }
  | { readonly ended: 'timeout' }
  | { readonly ended: 'not_started'; readonly code: string | undefined; readonly message: string };

export interface StepEnd {
  readonly ending: StepEnding | { readonly ended: 'cancelled' };
  /** When it began, as processes count it. */
  readonly since: number;
  /** The rest of its output, once nobody is left who could print. */
  readonly drain: () => Promise<void>;
}

interface Started {
  /** `NAME=value` in their environment. */
  readonly mark: string;
  /** Files in which they were written down. */
  readonly records: readonly string[];
}

export interface Leftovers extends Started {
  readonly folder: string;
  /** When the first of them began, as processes count it. */
  readonly since: number;
  /** Who was in the folder before. */
  readonly visitors: readonly ProcessIdentity[];
  readonly spare?: Started;
  readonly graceMs: number;
}

export interface EndedLeftovers {
  readonly ended: number;
  /** They cannot be made to go. */
  readonly remaining: number;
}

export interface Steps {
  /**
   * In a session of its own, with no input. What it leaves running is for whoever asked to end, and also the command itself
   * when it takes too long or is called off.
   */
  run(step: Step): Promise<StepEnd>;
  /**
   * All that carry the mark, all that were written down, and what is in the folder, has no terminal, began since and was
   * not there before. A person who looks around there has a terminal, or had an editor open.
   */
  end(leftovers: Leftovers): Promise<EndedLeftovers>;
  /** Who is in a folder now. */
  visitors(folder: string): Promise<readonly ProcessIdentity[]>;
  /** A time, as processes count it, that nothing which is started from now on is older than. */
  moment(): Promise<Moment>;
}

export interface Moment {
  readonly since: number;
  /** Which start of the system it counts from; null where times are those of the calendar. */
  readonly boot: string | null;
}
