/** Runs the checks of `landing.checks` for one commit, in a worktree of the queue. */

import type { CommitId } from '../../kernel/ids.ts';
import type { RegisteredWorktree } from '../../git/port.ts';
import type { CheckFault } from '../rules/check-fault.ts';

export interface CheckCommand {
  readonly name: string;
  /** A line for the shell, or a program with its arguments. */
  readonly command: string | readonly string[];
  readonly timeoutMs: number;
  readonly env: Readonly<Record<string, string>>;
  /** Relative to the worktree; null: its root. */
  readonly workingDirectory: string | null;
}

/** Only `red` is a verdict on the change. `infrastructure`: the command could not run, so there is no verdict. */
export type CheckVerdict = 'green' | 'red' | 'timeout' | 'infrastructure';

export interface CheckResult {
  readonly name: string;
  readonly verdict: CheckVerdict;
  /** Null when it was killed. */
  readonly exitCode: number | null;
  /** Null when it passed. */
  readonly fault: CheckFault | null;
  /** The command of the set-up, if that failed and no check ran. */
  readonly setup?: string;
  /** The file with its output. */
  readonly log: string | null;
  /** The last lines of its output. */
  readonly tail: string;
  readonly tookMs: number;
}

export type CheckRunEnd =
  /** The results up to and including the first that is not green. */
  | { readonly kind: 'done'; readonly results: readonly CheckResult[] }
  | { readonly kind: 'cancelled' }
  /** The worktree could not be made or set up. */
  | { readonly kind: 'infrastructure'; readonly reason: string; readonly log: string | null };

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
  /** Digest of everything besides tree and command that could change a verdict. */
  environmentOf(check: CheckCommand): string;
  /** One at a time in each slot, among all processes. All its processes have ended when this resolves. */
  run(request: CheckRequest): Promise<CheckRunEnd>;
  /** Ends processes that an earlier leader left running. Called by a new leader before its first run. Notes for people. */
  recover(): Promise<readonly string[]>;
}

// The worktrees of the queue: one for each slot, reused for the next candidate.

export interface CheckCandidate {
  readonly commit: CommitId;
  /** Folders, as for the worktrees of tasks; none means all. */
  readonly sparse: readonly string[];
}

export type Readied =
  /** `anew`: why the existing worktree was replaced; null when it was reused, or there was none. */
  | { readonly kind: 'ready'; readonly place: RegisteredWorktree; readonly anew: string | null }
  | { readonly kind: 'not_ready'; readonly reason: string };

export interface CheckPlaces {
  /** Slots that have a folder. */
  known(): readonly number[];
  path(slot: number): string;
  /** The caller holds the lock of the slot, and nothing runs there. */
  ready(slot: number, candidate: CheckCandidate): Promise<Readied>;
}
