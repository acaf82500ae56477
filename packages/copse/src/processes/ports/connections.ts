/**
 * Programs that are talked to while they run. What they read and write are pipes, so they end with whoever talks to them;
 * what they print beside that goes to a file.
 */

import type { AttemptId } from '../../kernel/ids.ts';
import type { ProcessIdentity } from '../../kernel/process.ts';
import type { ProgramEnd } from './programs.ts';

export interface ConnectedProgram {
  readonly argv: readonly [string, ...string[]];
  readonly folder: string;
  /** All of it: nothing is inherited. `COPSE_ATTEMPT_ID` in it marks everything that the program starts. */
  readonly environment: Readonly<Record<string, string>>;
  readonly attempt: AttemptId;
  /** What it prints as errors; is added to, never replaced. */
  readonly log: string;
}

export interface Connection {
  readonly input: NodeJS.WritableStream;
  readonly output: NodeJS.ReadableStream;
  /** Null when it was gone before anybody could look. Rejects with `ProgramMissing` when there is nothing to start. */
  readonly started: Promise<ProcessIdentity | null>;
  /** Settles when the first process is gone. Never rejects. */
  readonly ended: Promise<ProgramEnd>;
  /** Only the first process. */
  signal(signal: NodeJS.Signals): void;
  /** Asks it and all that it started to end, then makes them. */
  stop(options: { readonly graceMs: number }): Promise<void>;
}

export interface Connections {
  /** At once: vendors' packages want streams, and no promise of them. */
  open(program: ConnectedProgram): Connection;
}
