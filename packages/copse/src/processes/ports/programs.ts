/**
 * Starting processes: programs of agents (`Programs`), commands that can be cancelled and leave nothing running (`Steps`),
 * and the sandbox around either.
 */

import type { AttemptId } from '../../kernel/ids.ts';
import type { NamedProcess, ProcessIdentity } from '../../kernel/process.ts';

export interface Programs {
  /** Without a terminal, or in one that a person can join. Throws `ProgramMissing` when the program or tmux is missing. */
  start(program: Program): Promise<RunningProgram>;
  /** With pipes to talk to it. Returns at once, because vendors' packages take streams, not promises of streams. */
  connect(program: ConnectedProgram): Connection;
}

/** What a sandbox needs to know of any program. */
export interface Confinable {
  readonly argv: readonly [string, ...string[]];
  readonly folder: string;
  /** All of it: nothing is inherited. `COPSE_ATTEMPT_ID` in it marks everything that the program starts. */
  readonly environment: Readonly<Record<string, string>>;
  readonly attempt: AttemptId;
}

/** A program whose input and output are files, so that it goes on when its runner is killed. */
export interface Program extends Confinable {
  /** The file it reads; null for nothing, or for the terminal if it has one. */
  readonly input: string | null;
  /** Output is appended. */
  readonly log: string;
  /** The name of the tmux session, or null for none. */
  readonly terminal: string | null;
}

export type ProgramEnd =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'signalled'; readonly signal: string }
  /** Its terminal was closed, or its exit code was lost; `why` follows the name of the program in a sentence. */
  | { readonly kind: 'vanished'; readonly why?: string };

export interface RunningProgram {
  /** Null when it ended before it could be identified. */
  readonly process: ProcessIdentity | null;
  /** Settles when the first process is gone. Never rejects. */
  readonly ended: Promise<ProgramEnd>;
  /** Terminates it and everything that it started; kills what is left after `graceMs`. */
  stop(options: { readonly graceMs: number }): Promise<void>;
}

/** The program, or tmux, is not installed. The message is a sentence for a person. */
export class ProgramMissing extends Error {
  override readonly name = 'ProgramMissing';
}

/** A program that ends with its runner, because its input and output are pipes. */
export interface ConnectedProgram extends Confinable {
  /** Standard error is appended. */
  readonly log: string;
}

export interface Connection {
  readonly input: NodeJS.WritableStream;
  readonly output: NodeJS.ReadableStream;
  /** Null when it ended before it could be identified. Rejects with `ProgramMissing`. */
  readonly started: Promise<ProcessIdentity | null>;
  /** Settles when the first process is gone. Never rejects. */
  readonly ended: Promise<ProgramEnd>;
  /** Only the first process. */
  signal(signal: NodeJS.Signals): void;
  /** Terminates it and everything that it started; kills what is left after `graceMs`. */
  stop(options: { readonly graceMs: number }): Promise<void>;
}

export interface Sandbox {
  /** The same program, to be started inside the sandbox. Throws `NotConfined`: nothing starts outside instead. */
  wrap<P extends Confinable>(program: P, options?: { readonly hasTerminal: boolean }): P;
  /** When the attempt is over: removes the files that the sandbox needed. */
  close(): void;
}

/** The message is a sentence for a person. */
export class NotConfined extends Error {
  override readonly name = 'NotConfined';
}

export interface Steps {
  /**
   * Runs the command in a session of its own, with no input. It ends nothing: not what the command leaves running, and not
   * the command when it times out or is cancelled. `end` does both.
   */
  run(step: Step): Promise<StepEnd>;
  /**
   * Ends the processes with the mark, those that were recorded, and those in the folder that began since, were not there
   * before and have no terminal. A person's shell or editor there has a terminal or is older.
   */
  end(leftovers: Leftovers): Promise<EndedLeftovers>;
  /** The processes in a folder now. */
  visitors(folder: string): Promise<readonly ProcessIdentity[]>;
  /** A start time that no process started from now on is older than. */
  moment(): Promise<Moment>;
}

export interface Step {
  /** A line for the shell, or a program with its arguments. */
  readonly command: string | readonly string[];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly output: { write(chunk: Buffer): void };
  /** The file in which its processes are recorded while it runs. */
  readonly record: string;
}

export type StepEnding =
  | { readonly kind: 'exit'; readonly code: number }
  | { readonly kind: 'signal'; readonly signal: NodeJS.Signals }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'not_started'; readonly code: string | undefined; readonly message: string };

export interface StepEnd {
  readonly ending: StepEnding | { readonly kind: 'cancelled' };
  /** Its start time, in the unit of `ProcessIdentity`. */
  readonly since: number;
  /** Reads the rest of its output; to be called after `end`. */
  readonly drain: () => Promise<void>;
}

interface StartedProcesses {
  /** `NAME=value` in their environment. */
  readonly mark: string;
  /** Files in which they were recorded. */
  readonly records: readonly string[];
}

export interface Leftovers extends StartedProcesses {
  readonly folder: string;
  /** The start time of the first of them. */
  readonly since: number;
  /** Processes that were in the folder before. */
  readonly visitors: readonly ProcessIdentity[];
  /** These stay. */
  readonly spare?: StartedProcesses;
  readonly graceMs: number;
}

export interface EndedLeftovers {
  readonly ended: number;
  /** Those that survived SIGKILL or belong to another user. */
  readonly remaining: readonly NamedProcess[];
}

export interface Moment {
  readonly since: number;
  /** The boot that start times count from; null where they count from the epoch. */
  readonly boot: string | null;
}
