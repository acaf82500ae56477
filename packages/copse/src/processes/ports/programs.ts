/**
 * Programs that work on their own: without a terminal, or inside one that a person can join. What they print goes straight
 * to a file, so it survives whoever started them.
 */

import type { AttemptId } from '../../kernel/ids.ts';
import type { ProcessIdentity } from '../../kernel/process.ts';

export interface Program {
  readonly argv: readonly [string, ...string[]];
  readonly folder: string;
  /** All of it: nothing is inherited. `COPSE_ATTEMPT_ID` in it marks everything that the program starts. */
  readonly environment: Readonly<Record<string, string>>;
  readonly attempt: AttemptId;
  /** What it reads; null for nothing, or for the terminal where it has one. */
  readonly input: string | null;
  /** Is added to, never replaced. */
  readonly log: string;
  /** The name of the tmux session, or null for none. */
  readonly terminal: string | null;
}

export type ProgramEnd =
  | { readonly how: 'exited'; readonly code: number }
  | { readonly how: 'signalled'; readonly signal: string }
  /** Its terminal was closed, or its last words were lost. */
  | { readonly how: 'vanished' };

export interface RunningProgram {
  /** Null when it was gone before anybody could look. */
  readonly process: ProcessIdentity | null;
  /** Settles when the first process is gone. Never rejects. */
  readonly ended: Promise<ProgramEnd>;
  /** Asks it and all that it started to end, then makes them. */
  stop(options: { readonly graceMs: number }): Promise<void>;
}

/** There is nothing to start. The message is a sentence for a person. */
export class ProgramMissing extends Error {
  override readonly name = 'ProgramMissing';
}

export interface Programs {
  /** Throws `ProgramMissing` when the program or tmux is not there. */
  start(program: Program): Promise<RunningProgram>;
}
