/**
 * Which processes are in a folder, and how to end those of an agent. What cannot be found out is reported as unknown, because
 * a folder of which nothing is known is kept.
 */

import type { InsideProcess, NamedProcess, ProcessIdentity, TmuxSession } from '../../kernel/process.ts';

/** Which processes count as an agent's own. */
export interface Owners {
  /** Recorded processes of attempts and panes of the task's terminal: they and all that descend from them. */
  readonly roots: readonly ProcessIdentity[];
  /** Session ids. A process without a terminal whose `COPSE_SESSION_ID` is one of them was left behind by that session. */
  readonly sessions: readonly string[];
}

export type Inside =
  | {
      readonly kind: 'known';
      readonly processes: readonly InsideProcess[];
      /** Processes of this user, on a terminal, whose folder the system does not show. */
      readonly unreadable: readonly InsideProcess[];
    }
  | { readonly kind: 'unknown'; readonly why: string };

export type TmuxSessions =
  | { readonly kind: 'known'; readonly sessions: readonly TmuxSession[] }
  | { readonly kind: 'unknown'; readonly why: string };

export interface Ended {
  readonly ended: readonly ProcessIdentity[];
  /** Still alive: another user's, stuck in the kernel, or Copse's own ancestors, which are never signalled. */
  readonly remaining: readonly NamedProcess[];
}

export interface Occupancy {
  /** All processes but this one and `except` that work in the folder, run from it or have it as their root. */
  inside(folder: string, owners: Owners, except?: readonly number[]): Promise<Inside>;
  /** The process with this pid, together with its start time. */
  identify(pid: number): Promise<ProcessIdentity | undefined>;
  /** False for a zombie, and for a process whose pid another one has now. */
  isAlive(process: ProcessIdentity): Promise<boolean>;
  /** Those of the processes that run, and all that descend from them. */
  below(processes: readonly ProcessIdentity[]): Promise<readonly ProcessIdentity[]>;
  /** Terminates, waits, then kills, descendants included. Returns when they are gone or survived SIGKILL. */
  end(processes: readonly ProcessIdentity[], options: { readonly graceMs: number }): Promise<Ended>;
  tmuxSessions(name: string): Promise<TmuxSessions>;
  /** False when there is no such session. */
  killTmuxSession(name: string): Promise<boolean>;
}
