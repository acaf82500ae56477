/**
 * Runners: one detached process for each attempt, which outlives whoever started it. What it needs to know goes with it
 * as its orders; what it leaves behind while it runs is what a successor needs to clean up after it.
 */

import type { BeginOf } from '../rules/session/begin.ts';
import type { AgentName, AttemptId, FencingToken, SessionId, TaskId } from '../../kernel/ids.ts';
import type { ProcessIdentity } from '../../kernel/process.ts';

/** Everything about one attempt that was decided when its task was claimed. */
export interface Orders {
  readonly task: TaskId;
  readonly session: SessionId;
  readonly attempt: AttemptId;
  readonly token: FencingToken;
  readonly agent: AgentName;
  /** The runtime's conversation to go on with, or null for a fresh one. */
  readonly conversation: string | null;
  readonly begin: Begin;
}

/** The agent is told. */
export type Begin = BeginOf<string>;

export interface Runners {
  /** Returns as soon as the process runs. It tells the board itself who it is, once it has come that far. */
  start(orders: Orders): Promise<void>;
  /** The runner, as whoever started it saw it; undefined when they did not live to write it down. */
  runnerOf(attempt: AttemptId): Promise<ProcessIdentity | undefined>;
  /** The processes that an attempt is known to have started, whether or not their parents still live. */
  processesOf(attempt: AttemptId): Promise<readonly ProcessIdentity[]>;
  /** The attempts of which something is kept here: those that run, and those after which nobody has cleaned up. */
  known(): Promise<readonly AttemptId[]>;
  /** Nobody will ask about this attempt again. */
  forget(attempt: AttemptId): Promise<void>;
}
