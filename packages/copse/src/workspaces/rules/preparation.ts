/**
 * How a workspace is made, whether its task is new, resumed, retried or handed over. After the plan was carried out, the
 * same question gets the answer `reuse`.
 *
 *   another machine's snapshot              set aside the worktree here; then begin at its branch
 *   a healthy worktree                      reuse it, also on a branch of the agent's own
 *   one whose HEAD is on a branch of        set it aside: commits made there would move that branch; then as if there
 *   others: the base, another task's        were none
 *   a broken one, or one whose folder       set it aside (its branch stays), then as if there were none:
 *   is gone while git still knows it
 *   no worktree, but the branch             continue it; `taken` when another checkout has it
 *   no branch here, but on the remote       continue what another machine began
 *   nothing                                 begin at the base
 */

import type { BranchName, CommitId, TaskId } from '../../kernel/ids.ts';
import type { NoBase } from '../../tasks/rules/task.ts';

export function noBaseText(task: TaskId, lacks: NoBase): string {
  const missing =
    lacks.kind === 'no_commit' ? 'The repository has no commit' : `There is no branch ${lacks.branch}`;
  return `${missing}, so ${task} cannot start.`;
}

/** The same once there is one. */
export function noBaseBefore(task: TaskId, lacks: NoBase): string {
  const had =
    lacks.kind === 'no_commit'
      ? 'The repository had no commit; now it has one.'
      : `There was no branch ${lacks.branch}; now there is one.`;
  return `${had} Start ${task} again.`;
}

/** In the order in which they happen; each may be the last thing a killed process did. */
export const preparationSteps = [
  'set_aside',
  'intended',
  'branch_made',
  'registered',
  'checked_out',
  'furnished',
] as const;
export type PreparationStep = (typeof preparationSteps)[number];

/** What is at the path of a worktree. */
export type WorktreeFacts =
  /** `isRegistered`: git still has it registered, so the folder was deleted by hand. */
  | { readonly state: 'absent'; readonly isRegistered: boolean }
  /** `isUnfinished`: its checkout was killed, so no work was done in it. */
  | { readonly state: 'broken'; readonly why: string; readonly isUnfinished: boolean }
  | {
      readonly state: 'healthy';
      /** Null when HEAD is detached. */
      readonly branch: BranchName | null;
      readonly head: CommitId;
      /** A rebase, merge or the like that is not finished. */
      readonly operation: string | null;
    };

export interface PreparationFacts {
  readonly worktree: WorktreeFacts;
  readonly branch: BranchName;
  readonly localTip: CommitId | undefined;
  readonly remoteTip: CommitId | undefined;
  /** The folder of another checkout that has the branch. */
  readonly holder: string | undefined;
  readonly base: { readonly branch: BranchName; readonly commit: CommitId } | undefined;
  /** HEAD of the worktree is on the base, or on the branch of another task. */
  readonly isOnForeignBranch?: boolean;
  /** Where a snapshot of another machine begins, which is newer than anything here. */
  readonly snapshotStart?: CommitId | undefined;
}

export type Preparation =
  | { readonly kind: 'reuse'; readonly branch: BranchName | null; readonly notes: readonly string[] }
  | { readonly kind: 'taken'; readonly by: string }
  | { readonly kind: 'no_base' }
  | {
      readonly kind: 'new_worktree';
      readonly from: 'snapshot' | 'branch' | 'remote' | 'base';
      readonly start: CommitId;
      /** Why the worktree at the path is unusable; null if there is none. */
      readonly aside: string | null;
      readonly notes: readonly string[];
    };

export function decidePreparation(facts: PreparationFacts): Preparation {
  const { worktree, branch, localTip, remoteTip, holder, base, snapshotStart } = facts;
  if (snapshotStart !== undefined) {
    if (localTip !== undefined && holder !== undefined) return { kind: 'taken', by: holder };
    const isThere = worktree.state === 'healthy' && !facts.isOnForeignBranch;
    const aside = isThere ? 'another machine went on with its task' : reasonForAside(worktree);
    return { kind: 'new_worktree', from: 'snapshot', start: snapshotStart, aside, notes: [] };
  }
  if (worktree.state === 'healthy' && !facts.isOnForeignBranch) {
    return { kind: 'reuse', branch: worktree.branch, notes: reuseNotes(worktree, branch) };
  }
  const aside = reasonForAside(worktree);
  if (localTip !== undefined) {
    if (holder !== undefined) return { kind: 'taken', by: holder };
    return {
      kind: 'new_worktree',
      from: 'branch',
      start: localTip,
      aside,
      notes: [`It continues its branch ${branch}.`],
    };
  }
  if (remoteTip !== undefined) {
    const notes = [`It continues ${branch}, which another machine started.`];
    return { kind: 'new_worktree', from: 'remote', start: remoteTip, aside, notes };
  }
  if (base === undefined) return { kind: 'no_base' };
  return { kind: 'new_worktree', from: 'base', start: base.commit, aside, notes: [] };
}

function reasonForAside(worktree: PreparationFacts['worktree']): string | null {
  if (worktree.state === 'healthy') return `its HEAD is on ${worktree.branch}, which is not its branch`;
  if (worktree.state === 'broken') return worktree.why;
  return worktree.isRegistered ? 'its folder was deleted' : null;
}

function reuseNotes(
  { branch, operation }: Extract<PreparationFacts['worktree'], { state: 'healthy' }>,
  wanted: BranchName,
): readonly string[] {
  return [
    ...(branch === null && operation === null ? ['Its HEAD is on no branch.'] : []),
    ...(branch !== null && branch !== wanted ? [`Its branch is now ${branch}, not ${wanted}.`] : []),
    ...(operation === null ? [] : [`A ${operation} is in progress there.`]),
  ];
}
