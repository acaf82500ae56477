/** A call of an operation, as its command and without a command line. */

export interface Call {
  readonly argv: readonly string[];
  readonly input: Readonly<Record<string, unknown>>;
  /** Its command prints the document and then fails, if something on this machine is missing. */
  readonly mayFail?: true;
  /** The command prints one document on a line; this field of the operation has them. */
  readonly lines?: string;
  readonly at?: { readonly cwd: string };
}

/** By the name of the operation. */
export type ReadingCalls = Readonly<Record<string, () => readonly Call[]>>;
export type ChangingCalls = Readonly<Record<string, () => Call>>;

/** Ids of what the board of the test has. */
export interface KnownRecords {
  artifact: string;
  item: string;
  /** A task with a worktree. */
  work: string;
  job: string;
  /** Two more tasks with worktrees, which a person holds. */
  finished: string;
  stuck: string;
  /** An attempt of the first task, with a log. */
  attempt: string;
  /** An artifact with content. */
  report: string;
  queued: string;
  exported: string;
}
