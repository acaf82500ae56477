/**
 * The main checkout as a workspace (`strategy: static`). What was there before a session began is not the agent's: its
 * uncommitted files, its commits, its branch. A file that a person had changed stays theirs, whatever is written to it.
 */

import type { BranchName, CommitId } from '../../kernel/ids.ts';
import type { CheckoutState } from './escape.ts';

/** When the session began. */
export interface CheckoutBefore {
  readonly head: CommitId;
  /** Null when HEAD is detached. */
  readonly branch: BranchName | null;
  /** Files that differed from HEAD. */
  readonly paths: readonly string[];
  /** The snapshot of those files, if there were any. */
  readonly rescue: string | null;
}

/** When an earlier session of the same task ended. */
export interface CheckoutLeft {
  readonly head: CommitId;
  /** Files that it left uncommitted. */
  readonly paths: readonly string[];
}

/** Files that an earlier session of the task left are its own; its commits too, as long as HEAD did not move since. */
export function beforeSession(
  state: CheckoutState & { readonly head: CommitId },
  earlier: { readonly before: CheckoutBefore; readonly left: CheckoutLeft } | null,
): Omit<CheckoutBefore, 'rescue'> {
  const paths = state.changes.map(({ path }) => path);
  if (earlier === null) return { head: state.head, branch: state.branch, paths };
  const { before, left } = earlier;
  const isWhereItWas = state.head === left.head && state.branch === before.branch;
  return {
    head: isWhereItWas ? before.head : state.head,
    branch: state.branch,
    paths: paths.filter((path) => !left.paths.includes(path)),
  };
}

/** Uncommitted files of the agent. */
export function ownFiles(before: Pick<CheckoutBefore, 'paths'>, now: CheckoutState): readonly string[] {
  const known = new Set(before.paths);
  return now.changes.map(({ path }) => path).filter((path) => !known.has(path));
}

/** Files that had uncommitted changes and have none: the agent committed or undid them. */
export function disturbedFiles(before: Pick<CheckoutBefore, 'paths'>, now: CheckoutState): readonly string[] {
  const changed = new Set(now.changes.map(({ path }) => path));
  return before.paths.filter((path) => !changed.has(path));
}
