/**
 * A runtime: one kind of agent program and how to talk to it. It starts a turn, reports what happened, and can stop it.
 * A runtime's success proves nothing: only the finish gate decides whether the work is finished.
 */

import type { ProcessIdentity } from '../../kernel/process.ts';
import type { AttemptId, SessionId, TaskId, Timestamp } from '../../kernel/ids.ts';
import type { Attention, PermissionAnswer } from '../rules/session/session.ts';
import type { Usage } from '../../kernel/usage.ts';

interface RuntimeCapabilities {
  /** Whether the program asks before it stops, or is prompted again afterwards. */
  readonly stop: 'native' | 'reprompt';
  /** Where an earlier conversation can be resumed. */
  readonly resume: 'anywhere' | 'same_folder' | 'never';
  /** Whether it can ask a person for a permission, or decides by its own rules. */
  readonly permissions: 'asks' | 'decides';
  /** What it reports about its usage. */
  readonly cost: 'dollars' | 'tokens' | 'nothing';
  /** Whether it can commit; otherwise the gate commits for it. */
  readonly commits: boolean;
}

/** What an agent may do without a person's consent. */
export type Permissions = 'ask' | 'accept_edits' | 'all' | { readonly allow: readonly string[] };

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
  /** Appended to the program's own system prompt. */
  readonly systemPrompt: string;
  /** The runtime's id of the conversation to resume. */
  readonly conversation: string | null;
  /** The file for the program's output; appended to, never replaced. */
  readonly log: string;
  /** The name of the tmux session to run in, or null. */
  readonly terminal: string | null;
  /** The conversation's usage so far, for programs that count from its beginning. */
  readonly used: Usage;
  readonly on: (event: RuntimeEvent) => void;
  /** For programs that ask before they stop; the agent is told the reason of a refusal. */
  readonly beforeStop: () => Promise<StopAnswer>;
  /** Asks a person, and waits for the answer or for the end of the turn. */
  readonly mayUse: (permission: PermissionRequest) => Promise<PermissionAnswer>;
}

export interface PermissionRequest {
  /** The program's name of the tool, for example Bash. */
  readonly tool: string;
  /** What it would do, for a person. */
  readonly what: string;
}

export type StopAnswer = { readonly kind: 'allowed' } | { readonly kind: 'refused'; readonly reason: string };

export type RuntimeEvent =
  | { readonly type: 'conversation'; readonly id: string }
  | { readonly type: 'attention'; readonly attention: Attention | null }
  /** Used since the last such event, never a sum. */
  | { readonly type: 'usage'; readonly usage: Usage }
  /** How full the conversation's context is, from 0 to 1. */
  | { readonly type: 'context'; readonly share: number };

export type RuntimeOutcome =
  | {
      readonly kind: 'completed';
      readonly exitCode: number | null;
      /** The agent's last message, if the program reports it. */
      readonly lastWords?: string;
    }
  | { readonly kind: 'needs_input'; readonly question: string }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'limit'; readonly until: Timestamp | null; readonly reason: string }
  | {
      readonly kind: 'api_error';
      readonly status: number | null;
      readonly isRetryable: boolean;
      readonly reason: string;
    }
  | { readonly kind: 'crashed'; readonly exitCode: number | null; readonly reason: string };

export interface RunningTurn {
  /** The program's first process; its descendants belong to the turn too. */
  readonly process: ProcessIdentity | null;
  /** Resolves once, when the program is gone or has ended its turn. Never rejects. */
  readonly ended: Promise<RuntimeOutcome>;
  /** Asks it to end, then kills it, with its descendants. `ended` resolves too. */
  stop(options: { readonly graceMs: number }): Promise<void>;
}

/** The program or package is missing. The message tells a person how to install it. */
export class RuntimeUnavailable extends Error {
  override readonly name = 'RuntimeUnavailable';
}

export interface Runtime {
  readonly capabilities: RuntimeCapabilities;
  /** Throws `RuntimeUnavailable` when the program is missing. */
  start(turn: Turn): Promise<RunningTurn>;
}

/**
 * A question that a program inside a worktree asks its runner, by files in the worktree (`copse` itself). It needs neither
 * the board nor a network, so it works from within a sandbox.
 */
export interface Ask {
  /**
   * `stop`: may the agent stop? `permission`: may it use this tool? `notice`: expects no answer. `command`: run this command
   * of Copse for the agent.
   */
  readonly kind: 'stop' | 'permission' | 'notice' | 'command';
  /** The hook's input, unchanged. */
  readonly input: unknown;
}

export interface Asks {
  /** Answers each ask once. An answer that throws, and an ask that cannot be parsed, is answered with null. */
  answer(worktree: string, answer: (ask: Ask) => Promise<unknown>): { stop(): void };
  /** Asks and waits for the answer; undefined after the timeout. */
  ask(worktree: string, ask: Ask, options: { readonly timeoutMs: number }): Promise<unknown>;
}
