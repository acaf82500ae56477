/**
 * Who is at work in a folder, and how to make an agent leave it. What cannot be found out is said to be unknown, because a
 * folder about which nothing is known is kept.
 */

import type { InsideProcess, ProcessIdentity, TmuxSession } from '../../kernel/process.ts';

/** Which processes count as an agent's own. */
export interface Owners {
  /** Recorded processes of attempts and panes of the task's terminal: they and all that descend from them. */
  readonly roots: readonly ProcessIdentity[];
  /** Session ids. A process without a terminal whose `COPSE_SESSION_ID` is one of them was left behind by that session. */
  readonly sessions: readonly string[];
}

export type Inside =
  | {
      readonly known: true;
      readonly processes: readonly InsideProcess[];
      /** Processes of this user, on a terminal, that the system lets nobody look into. */
      readonly unreadable: readonly InsideProcess[];
    }
  | { readonly known: false; readonly why: string };

export type TmuxSessions =
  | { readonly known: true; readonly sessions: readonly TmuxSession[] }
  | { readonly known: false; readonly why: string };

export interface Ended {
  readonly ended: readonly ProcessIdentity[];
  /** Still there: another user's, stuck in the kernel, or Copse's own ancestors, which are never signalled. */
  readonly remaining: readonly ProcessIdentity[];
}

export interface Occupancy {
  /** All but this process and `except` that work in the folder, run from it or have it as their root. */
  inside(folder: string, owners: Owners, except?: readonly number[]): Promise<Inside>;
  /** The process with this pid, as one that no later process can be mistaken for. */
  identify(pid: number): Promise<ProcessIdentity | undefined>;
  /** A zombie is dead, and so is a process whose pid another one has now. */
  isAlive(process: ProcessIdentity): Promise<boolean>;
  /** Asks, waits, then kills, descendants included. Returns when they are gone or cannot be made to go. */
  end(processes: readonly ProcessIdentity[], options: { readonly graceMs: number }): Promise<Ended>;
  tmuxSessions(name: string): Promise<TmuxSessions>;
  /** False when there is no such session. */
  killTmuxSession(name: string): Promise<boolean>;
}
