/** Processes and terminals, as the rules and the board name them. */

/** A pid alone proves nothing; with the kernel's start time it names one process. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startTime: number;
}

export interface InsideProcess extends ProcessIdentity {
  readonly name: string;
  /** Where in the folder it is; empty if that could not be read. */
  readonly at: string;
  /** It is a recorded attempt, descends from one, or was left behind by one. */
  readonly isOurs: boolean;
}

export interface TmuxSession {
  readonly name: string;
  readonly panes: readonly number[];
  /** Those of the panes in which Copse runs an agent. */
  readonly launchers: readonly ProcessIdentity[];
  /** How many people look at it now. */
  readonly attached: number;
}
