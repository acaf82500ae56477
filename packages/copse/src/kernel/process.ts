/** Processes and terminals, as the rules and the board name them. */

/** A pid alone proves nothing; with the kernel's start time it names one process. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startTime: number;
}

export interface NamedProcess extends ProcessIdentity {
  readonly name: string;
  /** The id of the user whose process it is; null for this user's own, and where it cannot be found out. */
  readonly user: number | null;
}

/** For a sentence. Names come from agents. */
export function processList(processes: readonly NamedProcess[]): string {
  const first = processes.slice(0, LISTED).map(({ pid, name, user }) => {
    const whose = user === null ? '' : ` of user ${user}`;
    return `${name.replaceAll(/[^\x20-\x7e]/g, '?')} (pid ${pid}${whose})`;
  });
  const rest = processes.length - first.length;
  return [...first, ...(rest > 0 ? [`${rest} more`] : [])].join(', ');
}

const LISTED = 5;

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
