/** Running the checks of `landing.checks` for one commit, in a worktree of the queue's own. */

import type { CommitId } from '../../kernel/ids.ts';

export interface CheckCommand {
  readonly name: string;
  /** A line for the shell, or a program with its arguments. */
  readonly command: string | readonly string[];
  readonly timeoutMs: number;
  readonly env: Readonly<Record<string, string>>;
  /** Relative to the worktree; null: its root. */
  readonly workingDirectory: string | null;
}

/**
 * `red` is the only one that says something about the change. `infrastructure`: the command could not be run as it has to
 * be, so nobody knows.
 */
export type CheckVerdict = 'green' | 'red' | 'timeout' | 'infrastructure';

export interface CheckResult {
  readonly name: string;
  readonly verdict: CheckVerdict;
  /** Null when it did not end by itself. */
  readonly exitCode: number | null;
  /** One sentence for a person. */
  readonly reason: string;
  /** Where its output is kept. */
  readonly log: string | null;
  /** The last lines of it. */
  readonly tail: string;
  readonly tookMs: number;
}

export type CheckRunEnd =
  /** The results up to and including the first that is not green. */
  | { readonly ended: 'done'; readonly results: readonly CheckResult[] }
  | { readonly ended: 'cancelled' }
  /** There was no place to run them in, or it could not be set up. */
  | { readonly ended: 'infrastructure'; readonly reason: string; readonly log: string | null };

export interface CheckRequest {
  /** The id of this run; it names the logs. */
  readonly id: string;
  /** From 1; each is a worktree of its own. */
  readonly slot: number;
  readonly commit: CommitId;
  readonly checks: readonly CheckCommand[];
  readonly signal: AbortSignal;
}

export interface Checks {
  /** A digest of everything besides tree and command that could change a verdict. */
  environmentOf(check: CheckCommand): string;
  /** One at a time in each slot, whoever asks. Nothing of it runs any more once this has an answer. */
  run(request: CheckRequest): Promise<CheckRunEnd>;
  /**
   * Ends what an earlier process left running in the queue's worktrees. Called by whoever takes the lead, before the first
   * run. Sentences for a person.
   */
  recover(): Promise<readonly string[]>;
}
