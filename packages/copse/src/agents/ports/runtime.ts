/**
 * A runtime: one kind of agent program and how to talk to it. It starts a turn, says what happened, and knows how to stop.
 * Nothing it says about success is believed: whether the work is finished is for the finish gate.
 */

import type { ProcessIdentity } from '../../kernel/process.ts';
import type { AttemptId, SessionId, TaskId, Timestamp } from '../../kernel/ids.ts';
import type { Usage } from '../../kernel/usage.ts';

interface RuntimeCapabilities {
  /** Whether the program asks before it stops, or has to be prompted again after it did. */
  readonly stop: 'native' | 'reprompt';
  /** Where an earlier conversation can go on. */
  readonly resume: 'anywhere' | 'same_folder' | 'never';
  /** Whether a person can be asked before it does something, or its own rules decide alone. */
  readonly permissions: 'asks' | 'decides';
  /** What it says about what it used. */
  readonly cost: 'dollars' | 'tokens' | 'nothing';
  /** Whether it can commit by itself; where it cannot, the gate has to do it. */
  readonly commits: boolean;
}

/** One turn: the program works until it wants to stop. */
export interface Turn {
  readonly task: TaskId;
  readonly session: SessionId;
  readonly attempt: AttemptId;
  /** 1 for the first turn of an attempt; further ones follow a handback. */
  readonly number: number;
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly prompt: string;
  /** The prompt as a file in the workspace, for programs that read one. */
  readonly promptFile: string;
  /** What is added to the program's own system prompt. */
  readonly systemPrompt: string;
  /** The conversation to go on with, as the runtime itself names it. */
  readonly conversation: string | null;
  /** Where everything the program prints goes; it is added to, never replaced. */
  readonly log: string;
  /** The name of the tmux session to run in, or null. */
  readonly terminal: string | null;
  /** What the conversation used until now, for programs that count from its beginning. */
  readonly used: Usage;
  readonly on: (event: RuntimeEvent) => void;
  /** Asked by programs that ask before they stop; what it says is what the agent hears. */
  readonly beforeStop: () => Promise<StopAnswer>;
  /** Asks a person, and waits for as long as that takes, or until the turn is over. */
  readonly mayUse: (permission: PermissionRequest) => Promise<PermissionAnswer>;
}

export interface PermissionRequest {
  /** The program's name for what it wants to use, such as Bash. */
  readonly tool: string;
  /** What exactly it would do, for a person to read. */
  readonly what: string;
}

export interface PermissionAnswer {
  readonly isAllowed: boolean;
  /** What the agent hears with it. */
  readonly message: string | null;
}

export type StopAnswer = { readonly may: true } | { readonly may: false; readonly because: string };

export type RuntimeEvent =
  | { readonly type: 'conversation'; readonly id: string }
  | { readonly type: 'attention'; readonly attention: 'permission' | 'idle' | null }
  /** What was used since it was last said, never a sum. */
  | { readonly type: 'usage'; readonly usage: Usage }
  /** How full the conversation's context is, from 0 to 1. */
  | { readonly type: 'context'; readonly share: number };

export type RuntimeOutcome =
  | {
      readonly outcome: 'completed';
      readonly exitCode: number | null;
      /** The last thing that the agent said, where the program tells. */
      readonly lastWords?: string;
    }
  | { readonly outcome: 'needs_input'; readonly question: string }
  | { readonly outcome: 'cancelled' }
  | { readonly outcome: 'limit'; readonly until: Timestamp | null; readonly reason: string }
  | {
      readonly outcome: 'api_error';
      readonly status: number | null;
      readonly isRetryable: boolean;
      readonly reason: string;
    }
  | { readonly outcome: 'crashed'; readonly exitCode: number | null; readonly reason: string };

export interface RunningTurn {
  /** The program's first process; all that descends from it belongs to the turn. */
  readonly process: ProcessIdentity | null;
  /** Settles once, when the program is gone or has ended its turn. Never rejects. */
  readonly ended: Promise<RuntimeOutcome>;
  /** Asks it to end, then makes it, descendants included. `ended` settles too. */
  stop(options: { readonly graceMs: number }): Promise<void>;
}

/** The program or package is not there. The message is for a person and names the way to get it. */
export class RuntimeUnavailable extends Error {
  override readonly name = 'RuntimeUnavailable';
}

export interface Runtime {
  readonly capabilities: RuntimeCapabilities;
  /** Throws `RuntimeUnavailable` when there is nothing to start. */
  start(turn: Turn): Promise<RunningTurn>;
}
